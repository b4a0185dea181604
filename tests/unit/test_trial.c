/* SPDX-License-Identifier: Apache-2.0 */
/* test_trial.c - a builder whose first box dies early reports that, and does not wait for it. */
#include "executor/builder/trial.h"

#include "common/base/auto.h"
#include "executor/builder/program.h"
#include "executor/builder/workspace_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

enum {
	LAYERS = 5, /* in force, in a program's report */
	LOOKS = 10, /* more than any report takes */
};

/* How far a first process comes, of the box and of the program in it. */
enum fate {
	KILLED,
	FAILS,
	STARTS,
};

static enum fate fates[2];
static size_t looks, living;

static void *
make(size_t size, const struct order *order)
{
	struct process *p = calloc(1, size);

	assert_non_null(p);
	*p = (struct process){ .order = *order, .report = -1, .pidfd = -1 };
	living++;
	return p;
}

struct box *
box_new(const struct order *order, struct err *e)
{
	(void)e;
	return make(sizeof(struct box), order);
}

void
process_free(struct process *p)
{
	if (p->report >= 0)
		close(p->report);
	free(p);
	living--;
}

void
process_kill(struct process *p)
{
	p->doomed = true;
}

void
process_reap(struct process *p)
{
	assert_true(p->doomed);
}

struct err
process_note(struct process *p)
{
	uint32_t said;

	assert_true(++looks <= LOOKS);
	if (recv(p->report, &said, sizeof said, MSG_DONTWAIT) == sizeof said) {
		p->answer.kind = said;
		p->answer.layers.in_force = LAYERS;
		if (said == ANSWER_ENDED)
			err_set(&p->answer.error, ERR_isolation_unavailable, "no layers");
	}
	return p->answer.error;
}

/* What it says, and that it ends. */
static void
play(struct process *p, enum fate fate)
{
	static const uint32_t words[] = { [FAILS] = ANSWER_ENDED, [STARTS] = ANSWER_STARTED };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	if (fate != KILLED)
		assert_int_equal(write(pair[1], &words[fate], sizeof words[fate]), 4);
	close(pair[1]);
	p->report = pair[0];
}

int
box_start(struct box *box, struct err *e)
{
	(void)e;
	play(&box->process, fates[0]);
	return 0;
}

struct program *
program_probe(struct box *box, struct err *e)
{
	struct program *program = make(sizeof *program, &box->process.order);

	(void)e;
	play(&program->process, fates[1]);
	return program;
}

uid_t
host_uid(const struct host *host, uint32_t workspace)
{
	(void)host, (void)workspace;
	return 1000;
}

bool
workspace_table_has(uint32_t id)
{
	return id == ORDER_MAX_LIVING;
}

int
workspace_table_add(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *e)
{
	(void)bytes, (void)files, (void)owner, (void)e;
	assert_int_equal(id, ORDER_MAX_LIVING - 1);
	return 3;
}

int
workspace_table_remove(uint32_t id, struct err *e)
{
	(void)e;
	assert_int_equal(id, ORDER_MAX_LIVING - 1);
	return 0;
}

void
cgroup_end(struct cgroup *group)
{
	(void)group;
	fail();
}

static const struct ending {
	const char *name;
	enum fate fates[2];
	enum err_code code;
} endings[] = {
	{ "both start", { STARTS, STARTS }, ERR_none },
	{ "the box fails", { FAILS, KILLED }, ERR_isolation_unavailable },
	{ "the box is killed", { KILLED, KILLED }, ERR_internal },
	{ "the program fails", { STARTS, FAILS }, ERR_isolation_unavailable },
	{ "the program is killed", { STARTS, KILLED }, ERR_internal },
};

static void
ends_as_told(void **state)
{
	const struct ending *ending = *state;
	struct layers layers = { 0 };
	struct host host = { 0 };
	struct err e = { 0 };

	memcpy(fates, ending->fates, sizeof fates);
	looks = 0;
	assert_int_equal(trial_run(&host, &layers, &e), ending->code == ERR_none ? 0 : -1);
	assert_int_equal(e.code, ending->code);
	assert_int_equal(layers.in_force, ending->fates[1] == KILLED ? 0 : LAYERS);
	assert_int_equal(host.due, ending->code == ERR_none ? LAYERS : 0);
	assert_int_equal(living, 0);
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(endings)];

	for (size_t i = 0; i < COUNT(endings); i++)
		tests[i] = (struct CMUnitTest){ endings[i].name, ends_as_told, NULL, NULL,
			(void *)(uintptr_t)&endings[i] };
	return _cmocka_run_group_tests("trial", tests, COUNT(tests), NULL, NULL);
}
