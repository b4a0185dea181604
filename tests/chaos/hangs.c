/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hangs.c - a builder that hangs at its start, in state D: after vfork(2) the kernel holds the
 * parent until the child ends. The child waits, and ends with the parent.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int
main(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 0;
}
