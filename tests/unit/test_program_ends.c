/* SPDX-License-Identifier: Apache-2.0 */
/* test_program_ends.c - the end of a program is reported once, whichever process was its parent. */
#include "executor/builder/life.h"

#include "common/base/auto.h"
#include "executor/builder/program.h"
#include "executor/builder/zygotes.h"

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

static struct life box, life;
static size_t ends;
static void (*on_end)(void *self, uint32_t events);

struct life *
life_of(uint32_t id)
{
	return id == ID && ends == 0 ? &life : NULL;
}

void
life_watch(struct life *watched, void (*end)(void *self, uint32_t events))
{
	assert_ptr_equal(watched, &life);
	on_end = end;
}

void
life_listen(struct life *listened)
{
	listened->answer.kind = ANSWER_STARTED;
}

void
life_forget(struct life *forgotten)
{
	(void)forgotten;
}

void
life_kill(struct life *killed)
{
	(void)killed;
	fail();
}

void
use_add(struct life *of, const struct rusage *usage)
{
	(void)usage;
	assert_ptr_equal(of, &box);
}

void
zygotes_expect(uint32_t zygote)
{
	assert_int_equal(zygote, ZYGOTE);
}

void
life_end(struct life *ended)
{
	assert_ptr_equal(ended, &life);
	ends++;
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
		on_end(&life, 0);
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
	size_t last = 0;

	ends = 0;
	life = (struct life){
		.order = { .kind = ORDER_PROGRAM, .id = ID, .zygote = ZYGOTE },
		.box = &box,
		.fds = { -1, -1, -1 },
	};
	program_born(&life, pid, -1);
	for (size_t i = 0; i < COUNT(story->news); i++)
		if (story->news[i] != NONE)
			last = i;
	for (size_t i = 0; i <= last; i++) {
		assert_int_equal(ends, 0);
		hear(story->news[i], pid);
	}
	assert_int_equal(ends, 1);
	assert_int_equal(life.answer.error.code, story->known ? ERR_none : ERR_internal);
	assert_int_equal(life.answer.status, story->known ? STATUS << 8 : 0);
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
