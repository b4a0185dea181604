/* SPDX-License-Identifier: Apache-2.0 */
/* test_starter.c - a process works with whatever descriptors and signals it was started with. */
#include "common/daemon/starter.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* As someone careless starts it. */
static void
spoil(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_IGN);
	close(STDIN_FILENO);
	close(STDERR_FILENO);
}

static bool
is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static bool
is_null(int fd)
{
	struct stat null, st;

	return stat("/dev/null", &null) == 0 && fstat(fd, &st) == 0 && st.st_rdev == null.st_rdev;
}

/* 0, or what is wrong. */
static int
look(int stdout_was)
{
	sigset_t blocked;
	int child, status;

	if (!is_null(STDIN_FILENO) || !is_null(STDERR_FILENO))
		return 1;
	if (fcntl(STDOUT_FILENO, F_GETFL) != stdout_was || fcntl(STDERR_FILENO + 1, F_GETFD) >= 0)
		return 2;
	if (sigprocmask(SIG_SETMASK, NULL, &blocked) < 0 || !sigisemptyset(&blocked))
		return 3;
	if (is_ignored(SIGTERM) || is_ignored(SIGPIPE) || !is_ignored(SIGHUP))
		return 4;
	child = fork();
	if (child == 0)
		_exit(7);
	return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? 0 : 5;
}

static void
a_careless_starter_does_no_harm(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		int stdout_is = fcntl(STDOUT_FILENO, F_GETFL);

		close_range(3, ~0u, 0);
		spoil();
		starter_settle();
		_exit(look(stdout_is));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_careless_starter_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
