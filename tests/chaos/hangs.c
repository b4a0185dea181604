/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hangs.c - a builder that hangs at its start. HANGS=kernel: in state D, because after vfork(2) the
 * kernel holds the parent until the child ends. HANGS=stopped: it waits for a stopped child, as the
 * builder's first process waits for the second; the child does not end with its parent.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void
wait_for_stopped_child(void)
{
	pid_t child = fork();

	signal(SIGHUP, SIG_IGN); /* which the kernel sends, with SIGCONT, to an orphaned group */
	while (child == 0)
		raise(SIGSTOP);
	waitpid(child, NULL, 0);
}

int
main(void)
{
	const char *how = getenv("HANGS");

	if (how != NULL && strcmp(how, "stopped") == 0) {
		wait_for_stopped_child();
	} else if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 0;
}
