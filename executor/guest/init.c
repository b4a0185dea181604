/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - pid 1 of a box.
 *
 * A process of the builder's that has gone through the whole of cage.c, with the guest's uid and
 * the guest's system calls.  It holds one descriptor and no secret, cannot be traced (it is not
 * dumpable) nor killed from inside (pid 1 of its namespace), and what it says is believed only
 * about its own box.  It is no part of the interpreter so that a box can outlive that: when the
 * interpreter's process is to be branched or replaced, this one stays.
 */
#include "executor/guest/init.h"

#include "executor/builder/cage.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* The pipe holds what it is told: one write of less than PIPE_BUF. */
static void
tell(int fd, const struct cage_report *report)
{
	ssize_t n = write(fd, report, sizeof *report);

	if (n != (ssize_t)sizeof *report)
		_exit(1);
}

static void
become(const struct init *init)
{
	struct cage_report report = { .said = CAGE_ENDED };

	setsid();
	execve(init->argv[0], (char *const *)(uintptr_t)init->argv,
	    (char *const *)(uintptr_t)init->environment);
	err_sys(&report.error, "start %s", init->argv[0]);
	report.error.code = ERR_runtime_missing;
	tell(init->report, &report);
	_exit(127);
}

void
init_run(const struct init *init)
{
	struct cage_report report = { .said = CAGE_ENDED };
	pid_t program = fork(), gone;

	if (program < 0) {
		err_sys(&report.error, "fork");
		tell(init->report, &report);
		_exit(1);
	}
	if (program == 0)
		become(init);
	/* Nobody who takes this process over finds the program's channels in it. */
	close_range(0, (unsigned)init->report - 1, 0);
	do
		gone = waitpid(-1, &report.status, 0);
	while (gone != program && (gone > 0 || errno == EINTR));
	tell(init->report, &report);
	_exit(0);
}
