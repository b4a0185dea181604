/* SPDX-License-Identifier: Apache-2.0 */
/* test_locks.c - a program that takes file locks without end is found, whichever of its
 * processes holds them. */
#include "executor/builder/limits/locks.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/box.h"
#include "executor/builder/processes.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	MANY = 30000, /* more than are read */
	SOME = 3000,
	OF_A_FILE = 100,
	SMALL = 7, /* boxes' numbers */
	LARGE = 9,
	PATIENCE_MS = 20000,
};

static int ready[2];
static pid_t small, large; /* first processes */
static struct box boxes[LARGE + 1];
static struct process *killed;

struct process *
processes_find(uint32_t id)
{
	return id <= LARGE && boxes[id].process.pid > 0 ? &boxes[id].process : NULL;
}

struct process *
processes_next(uint32_t *id)
{
	while (++*id <= LARGE)
		if (processes_find(*id) != NULL)
			return processes_find(*id);
	return NULL;
}

struct box *
box_of(struct process *p)
{
	return (struct box *)p;
}

void
process_kill(struct process *p)
{
	killed = p;
	loop_stop();
}

/* In many files: to take one the kernel looks at all of the same file. */
static void
take(int locks)
{
	struct flock one = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int file = -1;

	for (int i = 0; i < locks; i++) {
		if (i % OF_A_FILE == 0)
			file = memfd_create("locked", MFD_CLOEXEC);
		one.l_start = 2L * i;
		if (fcntl(file, F_SETLK, &one) < 0)
			_exit(1);
	}
}

static void
hold(int locks)
{
	take(locks);
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* A process, or its child, that holds so many; both end with the test. */
static pid_t
holder(int locks, bool child)
{
	char byte;
	pid_t pid = fork();

	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (child && fork() != 0)
			for (;;)
				pause();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hold(locks);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	return pid;
}

static void
end(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

static int
setup(void **state)
{
	(void)state;
	killed = NULL;
	boxes[SMALL] = (struct box){ .used = true, .process.order.id = SMALL };
	boxes[LARGE] = (struct box){ .used = true, .process.order.id = LARGE };
	return pipe2(ready, O_CLOEXEC);
}

static int
teardown(void **state)
{
	(void)state;
	end(&small);
	end(&large);
	close(ready[0]);
	close(ready[1]);
	return 0;
}

static struct locks_most
count(void)
{
	const struct locks_owner owners[] = { { small, SMALL }, { large, LARGE } };
	auto_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return locks_count(proc, owners, COUNT(owners));
}

static void
nobody_is_ended_for_a_few(void **state)
{
	(void)state;
	small = holder(SOME, false);
	large = holder(2 * SOME, false);
	assert_int_equal(count().box, 0);
}

static void
who_has_most_is_found(void **state)
{
	(void)state;
	large = holder(MANY, false);
	small = holder(SOME, false);
	assert_int_equal(count().box, LARGE);
	assert_true(count().locks > SOME);
}

static void
a_childs_are_the_boxs(void **state)
{
	(void)state;
	large = holder(MANY, true);
	small = holder(SOME, false);
	assert_int_equal(count().box, LARGE);
}

/* Locks of others than boxes end nobody. */
static void
who_has_few_is_not_ended_for_others(void **state)
{
	pid_t other = holder(MANY, false);

	(void)state;
	small = holder(1, false);
	assert_int_equal(count().box, 0);
	end(&other);
}

static void
give_up(void *self)
{
	(void)self;
	loop_stop();
}

static void
look(void *host)
{
	locks_look(host);
	loop_after(10, look, host);
}

static void
look_until_killed(int64_t patience_ms)
{
	struct host host = { .own_proc = true,
		.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	struct err e;

	assert_int_equal(loop_open(&e), 0);
	loop_after(0, look, &host);
	loop_after(patience_ms, give_up, NULL);
	assert_int_equal(loop_run(&e), 0);
	loop_close();
	close(host.proc);
}

static void
its_box_is_killed(void **state)
{
	struct box program = { .process.box = &boxes[LARGE].process };

	(void)state;
	boxes[LARGE].process.pid = holder(1, false);
	large = holder(MANY, true);
	program.process.pid = large;
	boxes[1] = program;
	boxes[SMALL].process.pid = small = holder(SOME, false);
	look_until_killed(PATIENCE_MS);
	assert_ptr_equal(killed, &boxes[LARGE].process);
	assert_true(boxes[LARGE].process.use.over);
	assert_true(boxes[LARGE].process.use.locks > SOME);
	end(&boxes[LARGE].process.pid);
	boxes[1] = (struct box){ 0 };
}

/* What it held is not the neighbours' fault. */
static void
while_one_is_dying_no_other_is_ended(void **state)
{
	(void)state;
	boxes[LARGE].process.use.over = true;
	boxes[LARGE].process.pid = large = holder(MANY, false);
	boxes[SMALL].process.pid = small = holder(SOME, false);
	look_until_killed(1200);
	assert_null(killed);
}

#define locks_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		locks_test(nobody_is_ended_for_a_few),
		locks_test(who_has_most_is_found),
		locks_test(a_childs_are_the_boxs),
		locks_test(who_has_few_is_not_ended_for_others),
		locks_test(its_box_is_killed),
		locks_test(while_one_is_dying_no_other_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
