/* SPDX-License-Identifier: Apache-2.0 */
/* test_trial.c - a builder whose first box dies early reports that, and does not wait for it. */
#include "executor/builder/lives.h"

#include "common/base/auto.h"
#include "executor/builder/life.h"
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
static size_t looks, nlives;

struct life *
life_new(const struct order *order)
{
	struct life *life = calloc(1, sizeof *life);

	assert_non_null(life);
	*life = (struct life){ .order = *order, .report = -1, .pidfd = -1 };
	nlives++;
	return life;
}

void
life_free(struct life *life)
{
	if (life->report >= 0)
		close(life->report);
	free(life);
	nlives--;
}

void
life_kill(struct life *life)
{
	life->doomed = true;
}

void
life_note_end(struct life *life)
{
	assert_true(life->doomed);
}

struct err
life_note(struct life *life)
{
	uint32_t said;

	assert_true(++looks <= LOOKS);
	if (recv(life->report, &said, sizeof said, MSG_DONTWAIT) == sizeof said) {
		life->answer.kind = said;
		life->answer.layers.in_force = LAYERS;
		if (said == ANSWER_ENDED)
			err_set(&life->answer.error, ERR_isolation_unavailable, "no layers");
	}
	return life->answer.error;
}

/* What it says, and that it ends. */
static int
play(struct life *life, enum fate fate)
{
	static const uint32_t words[] = { [FAILS] = ANSWER_ENDED, [STARTS] = ANSWER_STARTED };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	if (fate != KILLED)
		assert_int_equal(write(pair[1], &words[fate], sizeof words[fate]), 4);
	close(pair[1]);
	life->report = pair[0];
	return 0;
}

int
place_start(struct life *life, const int *fds, size_t nfds, struct err *e)
{
	(void)fds, (void)nfds, (void)e;
	return play(life, fates[0]);
}

int
program_try(struct life *life, struct layers *layers, struct err *e)
{
	play(life, fates[1]);

	int r = trial_await(life, e);

	*layers = life->answer.layers;
	return r;
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
	struct err e = { 0 };

	memcpy(fates, ending->fates, sizeof fates);
	looks = 0;
	assert_int_equal(lives_try(NULL, &layers, &e), ending->code == ERR_none ? 0 : -1);
	assert_int_equal(e.code, ending->code);
	assert_int_equal(layers.in_force, ending->fates[1] == KILLED ? 0 : LAYERS);
	assert_int_equal(nlives, 0);
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
