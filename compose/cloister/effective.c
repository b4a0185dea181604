/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effective.c - runs each daemon with --print-settings, one after the other. Each reads the same
 * file and environment as at its start, so its table of settings is the only one.
 */
#include "compose/cloister/effective.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/table/edges.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int
print_daemon(const char *name, struct err *e)
{
	char program[32], path[PLACE_PATH];
	const char *argv[PLACE_FLAGS + 3] = { path, "--print-settings" };
	int status;

	snprintf(program, sizeof program, "cloister-%s", name);
	if (place_program(program, path, e) < 0)
		return -1;

	pid_t pid = fork();

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		place_flags(true, argv + 2);
		execv(path, (char *const *)argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	/* Who reads has seen enough, as in `cloister config | head`. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		exit(0);
	return status == 0 ? 0 : err_set(e, ERR_unavailable, "%s refuses its settings", name);
}

int
effective_print(int argc, char **argv)
{
	struct err e;

	place_load("print the settings of the daemons", argc, argv);
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++)
		if (print_daemon(edge_peer_name(peer), &e) < 0) {
			fprintf(stderr, "cloister: config: %s\n", e.text);
			return 1;
		}
	return 0;
}
