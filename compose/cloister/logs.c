/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.c - prints the log that the supervisor and its daemons write.
 *
 * The file is copied and truncated when it is too large (supervisor/logfile.c), so a reader that
 * follows it begins anew when it has become shorter.  Daemons have made their lines harmless.
 */
#include "compose/cloister/logs.h"

#include "compose/cloister/client.h"
#include "compose/cloister/commands.h"
#include "compose/cloister/place.h"
#include "compose/cloister/reach.h"
#include "compose/cloister/supervisor/logfile.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LINES = 100,
	MAX_LINES = 1000000,
	BLOCK = 65536,
	LOOK_MS = 200,
};

struct wish {
	long lines;
	bool follow;
};

/* Takes the flags of this command; what remains are settings. */
static int
read_line(int *argc, char **argv, struct wish *wish, struct err *e)
{
	const char *lines;
	char *end = NULL;
	int rest = 1;

	if (words_take(argc, argv, "--lines", &lines, e) < 0)
		return -1;
	wish->lines = lines != NULL ? strtol(lines, &end, 10) : LINES;
	if (wish->lines < 0 || wish->lines > MAX_LINES || (end != NULL && *end != '\0'))
		return err_set(
		    e, ERR_invalid_argument, "--lines: must be a number from 0 to %d", MAX_LINES);
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], "--follow") == 0 || strcmp(argv[i], "-f") == 0)
			wish->follow = true;
		else
			argv[rest++] = argv[i];
	argv[rest] = NULL;
	*argc = rest;
	return 0;
}

/* Where the last lines begin. */
static off_t
begin_of(int fd, off_t size, long lines)
{
	char block[BLOCK];

	while (size > 0) {
		off_t from = size > BLOCK ? size - BLOCK : 0;
		ssize_t n = pread(fd, block, (size_t)(size - from), from);

		for (ssize_t i = n - 1; i >= 0; i--)
			if (block[i] == '\n' && lines-- == 0)
				return from + i + 1;
		if (n <= 0)
			break;
		size = from;
	}
	return 0;
}

/* Returns where the file ends now. */
static off_t
print_from(int fd, off_t at)
{
	char block[BLOCK];
	ssize_t n;

	while ((n = pread(fd, block, sizeof block, at)) > 0) {
		fwrite(block, 1, (size_t)n, stdout);
		at += n;
	}
	fflush(stdout);
	return at;
}

static void
follow(int fd, off_t at)
{
	const struct timespec pause = { 0, LOOK_MS * 1000000L };
	struct stat st;

	while (!ferror(stdout) && nanosleep(&pause, NULL) == 0 && fstat(fd, &st) == 0)
		at = print_from(fd, st.st_size < at ? 0 : at);
}

static int
show(const struct wish *wish, struct err *e)
{
	auto_fd int state = place_open_state(e);
	auto_fd int fd = state < 0 ? -1 : logfile_read(state, e);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return e->code == ERR_not_found && reach_daemons_run()
		           ? err_set(e, ERR_not_found,
				 "something else has started the daemons, such as systemd: "
				 "journalctl -u 'cloister-*'")
		           : -1;

	off_t end = print_from(fd, begin_of(fd, st.st_size, wish->lines));

	if (wish->follow)
		follow(fd, end);
	return 0;
}

int
logs_show(int argc, char **argv)
{
	const struct command *command = &commands[COMMAND_logs];
	struct wish wish = { 0 };
	struct err e = { 0 };

	if (words_help(command, argc, argv))
		return 0;
	if (read_line(&argc, argv, &wish, &e) < 0)
		return words_fail(command, &e);
	place_load("print what the daemons logged", argc, argv);
	if (show(&wish, &e) == 0)
		return 0;
	fprintf(stderr, "cloister: %s\n", e.text);
	return 1;
}
