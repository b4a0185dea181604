/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - pid 1 of a box.
 *
 * It is a process of the builder that has passed through confine.c, with the guest's uid and no
 * capabilities.  It loads no seccomp program of its own: it reads no input, so no guest can make
 * it call anything but the calls below.  It holds no descriptor and no secret, can be neither
 * traced (it is not dumpable) nor killed from inside (it is pid 1 of its namespace), and writes
 * nothing.  It is separate from the interpreters, so that a box outlives interpreters that are
 * killed and started again.
 */
#include "executor/builder/launch/init.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

void
init_run(void)
{
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		sigwaitinfo(&children, NULL);
	}
}
