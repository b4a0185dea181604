/* SPDX-License-Identifier: Apache-2.0 */
/* test_census.c - all processes of a program are counted as its own, however it creates them. */
#include "executor/builder/limits/census.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	HELD = 96 << 20,
	MANY = 900, /* more than the kernel lists in a page */
};

static int say[2], hear[2]; /* to and from the one that holds much */

static void
tell(int fd)
{
	assert_int_equal(write(fd, "", 1), 1);
}

static void
await(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 1);
}

static void
stay(void)
{
	for (;;)
		pause();
}

static void
hold(void)
{
	tell(hear[1]);
	await(say[0]);
	void *at = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	memset(at, 1, HELD);
	tell(hear[1]);
	stay();
}

static pid_t
fork_to(void (*be)(void))
{
	pid_t pid = fork();

	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be();
		_exit(1);
	}
	return pid;
}

static void
make_one(void)
{
	fork_to(hold);
	stay();
}

static void *
in_thread(void *be)
{
	fork_to(be);
	stay();
	return NULL;
}

static void
make_one_in_a_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, in_thread, hold), 0);
	stay();
}

/* A child of it is one of another thread's child. */
static void
make_one_deep_down(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, in_thread, make_one_in_a_thread), 0);
	stay();
}

static void
make_many(void)
{
	for (int i = 0; i < MANY; i++)
		fork_to(stay);
	make_one();
}

/* What one of them takes must show in what all of them hold. */
static void
is_counted(void **state)
{
	void (*const *make)(void) = *state;
	auto_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(pipe2(say, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hear, O_CLOEXEC), 0);

	pid_t first = fork_to(*make);

	await(hear[0]);
	uint64_t before = census_memory(proc, &first, 1, UINT64_MAX);

	tell(say[1]);
	await(hear[0]);
	assert_true(census_memory(proc, &first, 1, UINT64_MAX) >= before + HELD);
	assert_true(census_memory(proc, &first, 1, 0) >= HELD);
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(say[i]);
		close(hear[i]);
	}
}

int
main(void)
{
	static void (*const makers[])(
	    void) = { make_one, make_one_in_a_thread, make_one_deep_down, make_many };
	static const char *const names[] = { "a child", "a thread's child",
		"a thread's child's thread's child", "the last of many children" };
	struct CMUnitTest tests[COUNT(makers)];

	for (size_t i = 0; i < COUNT(makers); i++)
		tests[i] = (struct CMUnitTest){ names[i], is_counted, NULL, NULL,
			(void *)(uintptr_t)&makers[i] };
	return _cmocka_run_group_tests("census", tests, COUNT(tests), NULL, NULL);
}
