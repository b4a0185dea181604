/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_init.c - pid 1 of an OCI container: puts descriptors where a driver expects them,
 * loads the seccomp program of the language, starts the driver, and exits with the driver's
 * status.
 *
 * It exists so that a program in a container is not pid 1, to which the kernel does not deliver
 * most signals.  It is linked statically, because its root is the box's.  It trusts the builder
 * for the contents of its descriptors.
 *
 * init CONTROL EXTENSION ARGUMENT...; CONTROL 3: descriptor 3 is the control channel and 4 the
 * seccomp program; 0: descriptor 0 is the channel, and there is no seccomp program.  EXTENSION: ""
 * or as in code_file.h.
 */
#include "executor/builder/confine/filter.h"
#include "executor/builder/launch/code_file.h"
#include "executor/guest/protocol.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FILTER_FD = GUEST_CONTROL_FD + 1,
	MAX_ARGS = 32,
	LOOK_NS = 2000000,
	LOOKS = 50,
};

extern char **environ;

static pid_t child;

static void
pass_on(int signal)
{
	if (child > 0)
		kill(-child, signal);
}

static void
take_control(void)
{
	if (dup2(0, GUEST_CONTROL_FD) < 0 || close(0) < 0 || open("/dev/null", O_RDWR) != 0)
		_exit(125);
}

static void
load_filter(void)
{
	static struct filter filter;
	struct err e;

	if (pread(FILTER_FD, &filter, sizeof filter, 0) != (ssize_t)sizeof filter ||
	    close(FILTER_FD) < 0 || filter_load(&filter, &e) < 0)
		_exit(125);
}

static void
run(const char *extension, char **arguments)
{
	char *argv[MAX_ARGS + 1] = { NULL };
	int n = 0;

	for (; arguments[n] != NULL && n < MAX_ARGS - 1; n++)
		argv[n] = arguments[n];
	if (extension[0] != '\0') {
		argv[n] = (char *)(uintptr_t)code_file_await(extension);
		if (argv[n] == NULL)
			_exit(126);
	}
	must(argv[0] != NULL);
	execve(argv[0], argv, environ);
	_exit(127);
}

/* The kernel kills the others when this process ends, and what they write in the grace of a run
 * (sandbox/program.c) belongs to the run. */
static void
await_others(void)
{
	static const char left[GUEST_HEAD] = { GUEST_LEFT };
	const struct timespec pause = { 0, LOOK_NS };

	for (int i = 0; i < LOOKS; i++) {
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return;
		nanosleep(&pause, NULL);
	}
	if (write(GUEST_CONTROL_FD, left, sizeof left) < 0)
		return; /* nobody is told */
}

int
main(int argc, char **argv)
{
	int status = 0;

	if (argc < 4)
		return 125;
	signal(SIGINT, pass_on);
	signal(SIGURG, pass_on);
	if (argv[1][0] == '0') {
		take_control();
	} else {
		prctl(PR_SET_DUMPABLE, 0);
		load_filter();
	}
	child = fork();
	if (child == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGURG, SIG_DFL);
		setsid();
		run(argv[2], argv + 3);
	}
	/* The executor waits for the end of its pipes. */
	close_range(STDOUT_FILENO, STDERR_FILENO, 0);
	for (pid_t ended; (ended = wait(&status)) != child;)
		if (ended < 0 && child < 0)
			return 125;
	await_others();
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
