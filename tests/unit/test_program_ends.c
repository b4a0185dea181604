/* SPDX-License-Identifier: Apache-2.0 */
/* test_program_ends.c - the end of a program is reported once, whichever process was its parent. */
#include "executor/builder/program.h"

#include "common/base/auto.h"
#include "executor/builder/processes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	ID = 7,
	ZYGOTE = 1,
	STATUS = 5, /* exit code */
};

static struct host host;
static struct box box;
static struct program program;
static size_t ends;
static bool watched;

struct process *
processes_next(uint32_t *id)
{
	bool is_next = *id < ID && ends == 0;

	*id = ID;
	return is_next ? &program.process : NULL;
}

void
process_watch(struct process *p)
{
	assert_ptr_equal(p, &program.process);
	watched = true;
}

void
process_listen(struct process *p)
{
	p->answer.kind = ANSWER_STARTED;
}

void
process_forget(struct process *p)
{
	(void)p;
}

void
process_kill(struct process *p)
{
	(void)p;
	fail();
}

void
box_end_soon(struct box *of)
{
	(void)of;
	fail();
}

void
use_add(struct use *use, const struct rusage *usage)
{
	(void)usage;
	assert_ptr_equal(use, &box.process.use);
}

static void
expect(uint32_t zygote)
{
	assert_int_equal(zygote, ZYGOTE);
}

void
process_end(struct process *p)
{
	assert_ptr_equal(p, &program.process);
	ends++;
}

int
host_space(const struct host *of, enum host_namespace which, struct err *e)
{
	(void)of, (void)which, (void)e;
	return 0;
}

int
filter_make(struct filter *filter, unsigned who, struct err *e)
{
	(void)filter, (void)who, (void)e;
	return 0;
}

enum limits_by
cgroup_limits_by(void)
{
	return LIMITS_RLIMIT;
}

bool
cgroup_shares_processors(void)
{
	return false;
}

/* A child of this process's that has ended; waited: by somebody else, so to say. */
static pid_t
dead_child(bool waited)
{
	siginfo_t end;
	pid_t pid = fork();

	if (pid == 0)
		_exit(STATUS);
	assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | (waited ? 0 : WNOWAIT)), 0);
	return pid;
}

/* What the builder hears of a program, in this order. */
enum news {
	NONE,
	END,     /* its pidfd's */
	STATE,   /* the zygote's */
	ZYGOTES, /* that zygote's end */
};

static const struct story {
	const char *name;
	enum news news[3];
	bool waited; /* by the zygote */
	bool known;  /* how it ended */
} stories[] = {
	{ "ended, then told", { END, STATE }, true, true },
	{ "told, then ended", { STATE, END }, true, true },
	{ "ended, and is here already", { END }, false, true },
	{ "a zygote's end leaves it here, then it ended", { ZYGOTES, END }, false, true },
	{ "told, a zygote's end, then ended", { STATE, ZYGOTES, END }, true, true },
	{ "ended, and nobody can tell any more", { END, ZYGOTES }, true, false },
	{ "nobody can tell any more, then it ended", { ZYGOTES, END }, true, false },
};

static void
hear(enum news news, pid_t pid)
{
	static const struct rusage usage;

	if (news == END)
		program_kind.ended(&program.process);
	else if (news == STATE)
		program_reaped_by(ZYGOTE, pid, STATUS << 8, &usage);
	else if (news == ZYGOTES)
		program_zygote_ended(ZYGOTE);
}

static void
ends_once(void **state)
{
	const struct story *story = *state;
	pid_t pid = dead_child(story->waited);
	const struct program_forker forker = { .expect = expect };
	size_t last = 0;
	struct err e;

	ends = 0;
	watched = false;
	program = (struct program){
		.process = { .kind = &program_kind,
		    .order = { .kind = ORDER_PROGRAM, .id = ID, .zygote = ZYGOTE },
		    .box = &box.process },
		.fds = { -1, -1, -1 },
	};
	assert_int_equal(program_open(&host, &forker, &e), 0);
	program_forked(&program, pid, -1);
	assert_true(watched);
	for (size_t i = 0; i < COUNT(story->news); i++)
		if (story->news[i] != NONE)
			last = i;
	for (size_t i = 0; i <= last; i++) {
		assert_int_equal(ends, 0);
		hear(story->news[i], pid);
	}
	assert_int_equal(ends, 1);
	assert_int_equal(program.process.answer.error.code, story->known ? ERR_none : ERR_internal);
	assert_int_equal(program.process.answer.status, story->known ? STATUS << 8 : 0);
	/* Another of that number is none of this zygote's. */
	hear(STATE, pid);
	assert_int_equal(ends, 1);
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(stories)];

	for (size_t i = 0; i < COUNT(stories); i++)
		tests[i] = (struct CMUnitTest){ stories[i].name, ends_once, NULL, NULL,
			(void *)(uintptr_t)&stories[i] };
	return _cmocka_run_group_tests("ends", tests, COUNT(tests), NULL, NULL);
}
