/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - takes a lease on the user's daemons and executes the gateway.
 *
 * Waits for no daemon: the gateway replies to server/discover while the other daemons start. The
 * lease stays in a child process (lease.c), to which the gateway has a descriptor.
 */
#include "compose/cloister/serve.h"

#include "compose/cloister/lease.h"
#include "compose/cloister/place.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ARGUMENTS = 64 };

static int
become_gateway(int argc, char **argv, int lease, struct err *e)
{
	char path[PLACE_PATH];
	const char *line[MAX_ARGUMENTS + 3] = { path };

	if (argc > MAX_ARGUMENTS)
		return err_set(e, ERR_invalid_argument, "more than %d arguments", MAX_ARGUMENTS);
	if (place_program("cloister-gateway", path, e) < 0)
		return -1;
	for (int i = 1; i < argc; i++)
		line[i] = argv[i];
	if (lease > 0) {
		line[argc] = "--lease=3";
		line[argc + 1] = "--keep-fds=1";
		if (lease != 3 ? dup2(lease, 3) < 0 : fcntl(3, F_SETFD, 0) < 0)
			return err_sys(e, "pass the lease");
	}
	execv(path, (char *const *)line);
	return err_sys(e, "start %s", path);
}

/* clang-format off */
static const char *const systems[] = {
#define SYSTEM(system, toolset, ...) toolset,
#include "common/table/compat.def"
};
/* clang-format on */

static const char *
system_of(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;

	for (size_t i = 0; i < COUNT(systems); i++)
		if (strcmp(systems[i], name) == 0)
			return systems[i];
	return NULL;
}

/* A flag in place of a command is one of serve: those systems have no commands, or start without
 * one. */
static bool
is_flag_of_serve(const char *word)
{
	return strncmp(word, "--", 2) == 0 && strcmp(word, "--help") != 0 &&
	       strcmp(word, "--version") != 0;
}

bool
serve_is_system(int argc, char **argv)
{
	return argc > 0 && system_of(argv[0]) != NULL &&
	       (argc == 1 || strcmp(argv[1], "serve") == 0 || is_flag_of_serve(argv[1]));
}

/* The user's own --toolsets comes later and so takes precedence. */
int
serve_as_system(int argc, char **argv)
{
	char toolsets[64], serve[] = "serve", *line[MAX_ARGUMENTS + 3] = { serve, toolsets };
	int n = 2, first = argc > 1 && strcmp(argv[1], "serve") == 0 ? 2 : 1;

	snprintf(toolsets, sizeof toolsets, "--toolsets=%s", system_of(argv[0]));
	for (int i = first; i < argc && n < MAX_ARGUMENTS + 1; i++)
		line[n++] = argv[i];
	return serve_run(n, line);
}

/* The value of "--port=8080" or "--port 8080", at argv[*i]; NULL: another argument. */
static const char *
value_of(const char *flag, char **argv, int *i)
{
	size_t size = strlen(flag);

	if (strncmp(argv[*i], flag, size) != 0)
		return NULL;
	if (argv[*i][size] == '=')
		return argv[*i] + size + 1;
	return argv[*i][size] == '\0' && argv[*i + 1] != NULL ? argv[++*i] : NULL;
}

/* --host and --port of the replaced systems are the setting listen. The line does not grow. */
static void
take_address(int *argc, char **argv)
{
	static char listen[160];
	const char *host = NULL, *port = NULL, *value;
	int rest = 1;

	for (int i = 1; i < *argc; i++)
		if ((value = value_of("--host", argv, &i)) != NULL)
			host = value;
		else if ((value = value_of("--port", argv, &i)) != NULL)
			port = value;
		else
			argv[rest++] = argv[i];
	if (host != NULL || port != NULL) {
		snprintf(
		    listen, sizeof listen, "--listen=%s:%s", host ?: "127.0.0.1", port ?: "8765");
		argv[rest++] = listen;
	}
	argv[rest] = NULL;
	*argc = rest;
}

int
serve_run(int argc, char **argv)
{
	struct err e;

	take_address(&argc, argv);
	argc = place_split("serve", argc, argv);

	int lease = lease_take(&e);

	if (lease > 0 || lease == LEASE_ENDING)
		lease = lease_keep(lease, &e);
	if (lease < 0 || become_gateway(argc, argv, lease, &e) < 0)
		fprintf(stderr, "cloister: %s\n", e.text);
	return 1;
}
