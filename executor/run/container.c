/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.c - looks for the programs of containers.def in Debian's directories, and asks each for
 * its version.
 *
 * Trusts the host's /usr, as boxes do.  Programs elsewhere are not found, because the builder sees
 * only /usr.
 */
#include "executor/run/container.h"

#include "executor/builder/containers.h"
#include "executor/options.h"
#include "executor/run/limits.h"
#include "executor/sandbox/box.h"
#include "executor/sandbox/isolation.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ANSWER_MS = 5000,
	MAX_TITLE = 96,
	MAX_PATH = 64,
	OFF = CONTAINER_COUNT,
};

static const char *const directories[] = { "/usr/bin", "/usr/sbin", "/usr/local/bin",
	"/usr/local/sbin" };

/* clang-format off */
static const char *const names[CONTAINER_COUNT] = {
	[CONTAINER_none] = "auto",
#define CONTAINER(name, ...) [CONTAINER_##name] = #name,
#include "executor/builder/containers.def"
};
/* clang-format on */

static struct found {
	char path[MAX_PATH]; /* "": not installed */
} found[CONTAINER_COUNT];

static bool as_root; /* at the start; later this process has no privileges */

/* ---- looking ---- */

static void
find(int c)
{
	for (size_t i = 0; i < COUNT(directories); i++) {
		snprintf(found[c].path, MAX_PATH, "%s/%s", directories[i], names[c]);
		if (access(found[c].path, X_OK) == 0)
			return;
	}
	found[c].path[0] = '\0';
}

static pid_t
start(char *path, int out)
{
	char version[] = "--version", environment[] = "LC_ALL=C.UTF-8";
	char *argv[] = { path, version, NULL }, *envp[] = { environment, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (posix_spawn(&pid, path, &actions, NULL, argv, envp) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* Converts "crun version 1.8.1" to "crun 1.8.1". */
static void
take_version(int c, char *line)
{
	static const char between[] = " version ";
	char *version, title[MAX_TITLE];

	line[strcspn(line, "\n")] = '\0';
	version = strstr(line, between);
	if (version == NULL || !utf8_valid(line, strlen(line)))
		return;
	snprintf(title, sizeof title, "%s %.64s", c == CONTAINER_runsc ? "gVisor runsc" : names[c],
	    version + strlen(between));
	isolation_entitle((uint32_t)c, title);
}

static void
ask(int c)
{
	char line[128] = "";
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;

	auto_fd int in = ends[0];
	pid_t pid = start(found[c].path, ends[1]);
	struct pollfd readable = { .fd = in, .events = POLLIN };

	close(ends[1]);
	if (pid > 0 && poll(&readable, 1, ANSWER_MS) == 1 && read(in, line, sizeof line - 1) < 0)
		line[0] = '\0';
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	take_version(c, line);
}

/* ---- choosing ---- */

/* The row of containers.def; CONTAINER_none for auto, OFF; -1: unknown. */
static int
number_of(const char *word)
{
	for (int c = 0; c < CONTAINER_COUNT; c++)
		if (strcmp(names[c], word) == 0)
			return c;
	return strcmp(word, "off") == 0 ? OFF : -1;
}

bool
container_enabled(void)
{
	return limits_default.box.container != CONTAINER_none;
}

bool
container_available(void)
{
	for (int c = CONTAINER_none + 1; c < CONTAINER_COUNT; c++)
		if (found[c].path[0] != '\0')
			return true;
	return false;
}

int
container_choose(uint64_t *container, struct err *e)
{
	int wish = number_of(options.container_runtime);

	for (int c = CONTAINER_none + 1; c < CONTAINER_COUNT; c++)
		if ((wish == CONTAINER_none || wish == c) && found[c].path[0] != '\0') {
			*container = (uint64_t)c;
			return isolation_allow((uint32_t)c, e) < 0 ? err_add(e, "use_container")
			                                           : 0;
		}
	if (wish == OFF)
		return err_set(e, ERR_isolation_unavailable,
		    "use_container: containers are disabled on this server "
		    "(container_runtime=off); leave it out to run in a box");
	if (!as_root)
		return err_set(e, ERR_isolation_unavailable,
		    "use_container: containers require a server that was started as root; leave it "
		    "out to run in a box");
	return err_set(e, ERR_isolation_unavailable,
	    "use_container: this host has no %s; install it, or leave use_container out to run in "
	    "a "
	    "box",
	    wish == CONTAINER_none ? "crun, runc or runsc" : names[wish]);
}

int
container_open(struct err *e)
{
	as_root = geteuid() == 0;
	if (number_of(options.container_runtime) < 0)
		return err_set(e, ERR_invalid_argument,
		    "container_runtime: must be auto, crun, runc, runsc or off, not \"%.32s\"",
		    options.container_runtime);
	for (int c = CONTAINER_none + 1; c < CONTAINER_COUNT; c++) {
		if (number_of(options.container_runtime) == OFF || !as_root)
			break; /* the builder refuses users other than root */
		find(c);
		if (found[c].path[0] != '\0')
			ask(c);
	}
	limits_default.box.container = CONTAINER_none;
	return options.container ? container_choose(&limits_default.box.container, e) : 0;
}

int
container_arguments(struct texts *arguments, struct err *e)
{
	for (int c = CONTAINER_none + 1; c < CONTAINER_COUNT; c++)
		if (found[c].path[0] != '\0' &&
		    (texts_add(arguments, "container") < 0 || texts_add(arguments, names[c]) < 0 ||
			texts_add(arguments, found[c].path) < 0 || texts_add(arguments, "--") < 0))
			return err_sys(e, "arguments of the builder");
	return 0;
}
