/* SPDX-License-Identifier: Apache-2.0 */
/* test_pidstat.c - descriptions of processes that run, are stopped, have ended, or do not exist. */
#include "common/base/pidstat.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

static void
assert_seen(pid_t pid, const char *wanted)
{
	char text[PIDSTAT_TEXT];

	/* Until the kernel has done what was asked of it. */
	for (int i = 0; i < 500; i++) {
		pidstat_text(pid, text);
		if (strncmp(text, wanted, strlen(wanted)) == 0)
			return;
		usleep(10000);
	}
	fail_msg("%s", text);
}

static void
tells_the_state(void **unused)
{
	pid_t pid = fork();

	(void)unused;
	if (pid == 0)
		for (;;)
			pause();
	assert_seen(getpid(), "state R (running)");
	assert_seen(pid, "state S (sleeping)");
	assert_return_code(kill(pid, SIGSTOP), 0);
	assert_seen(pid, "state T (stopped by a signal)");
	assert_return_code(kill(pid, SIGKILL), 0);
	assert_seen(pid, "state Z (zombie)");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_seen(pid, "no such process");
}

/* Of a parent that waits, vfork(2) makes a process in state D, until the child ends. */
static void
names_the_descendant_that_cannot_be_killed(void **unused)
{
	pid_t parent = fork();
	char text[PIDSTAT_TEXT];

	(void)unused;
	if (parent == 0) {
		pid_t middle = fork();

		if (middle == 0) {
			if (vfork() == 0) {
				usleep(3000000);
				_exit(0);
			}
			_exit(0);
		}
		waitpid(middle, NULL, 0);
		_exit(0);
	}
	assert_seen(parent, "process ");
	pidstat_text(parent, text);
	assert_non_null(strstr(text, " below it: state D (in the kernel, cannot be killed)"));
	assert_return_code(kill(parent, SIGKILL), 0);
	waitpid(parent, NULL, 0);
}

/* The parent only waits, as the process that the executor starts waits for the builder. */
static void
names_the_descendant_that_is_stopped(void **unused)
{
	pid_t parent = fork();
	char text[PIDSTAT_TEXT];

	(void)unused;
	if (parent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if this case fails */
		pid_t child = fork();

		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			raise(SIGSTOP);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		_exit(0);
	}
	assert_seen(parent, "process ");
	pidstat_text(parent, text);
	assert_non_null(strstr(text, " below it: state T (stopped by a signal)"));
	assert_return_code(kill(parent, SIGKILL), 0);
	waitpid(parent, NULL, 0);
}

int
main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(tells_the_state),
		cmocka_unit_test(names_the_descendant_that_cannot_be_killed),
		cmocka_unit_test(names_the_descendant_that_is_stopped),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
