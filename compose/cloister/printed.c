/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printed.c - runs a daemon with --print-given or --print-settings.
 *
 * Each daemon reads its own sources, so its table of settings is the only one.
 */
#include "compose/cloister/printed.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
	TEXT_BYTES = 1 << 18,
};

static void
become_daemon(const char *name, const char *flag, int out)
{
	char program[32], path[PLACE_PATH];
	const char *argv[PLACE_FLAGS + 3] = { path, flag };
	auto_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct err e;

	snprintf(program, sizeof program, "cloister-%s", name);
	if (place_program(program, path, &e) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	place_flags(true, argv + 2);
	execv(path, (char *const *)argv);
	_exit(127);
}

char *
printed_by(const char *name, const char *flag)
{
	int pair[2], status;
	char *text = calloc(1, TEXT_BYTES);
	size_t have = 0;
	ssize_t n = 1;

	if (text == NULL || pipe2(pair, O_CLOEXEC) < 0) {
		free(text);
		return NULL;
	}

	pid_t pid = fork();

	if (pid == 0)
		become_daemon(name, flag, pair[1]);
	close(pair[1]);
	while (pid > 0 && n > 0 && have < TEXT_BYTES - 1) {
		n = read(pair[0], text + have, TEXT_BYTES - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	}
	close(pair[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (pid > 0 && status == 0)
		return text;
	free(text);
	return NULL;
}

const char *
printed_value(const char *text, const char *name, size_t name_size, size_t *size)
{
	for (const char *line = text; line != NULL && *line != '\0';) {
		const char *end = line + strcspn(line, "\n");

		if (strncmp(line, "  ", 2) == 0 && strncmp(line + 2, name, name_size) == 0 &&
		    strncmp(line + 2 + name_size, ": ", 2) == 0) {
			*size = (size_t)(end - line) - name_size - 4;
			return line + name_size + 4;
		}
		line = *end == '\n' ? end + 1 : NULL;
	}
	return NULL;
}
