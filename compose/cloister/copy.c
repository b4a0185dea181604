/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - one file from this machine to a session, or back.
 *
 * The user is trusted with paths of this machine.  A file that arrives is written to a draft beside
 * its place, so that a failed copy leaves what was there.
 */
#include "compose/cloister/copy.h"

#include "compose/cloister/client.h"
#include "compose/cloister/commands.h"
#include "compose/cloister/transfer.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATHS = 2,
};

struct copy {
	const struct command *command;
	struct transfer transfer;
	char session[WORDS_SESSION]; /* "": the default one */
	const char *paths[PATHS];    /* from, to; NULL: not given */
};

/* ---- the line ---- */

/* Takes the paths and --session; what remains are settings. */
static int
read_line(struct copy *c, int argc, char **argv, struct err *e)
{
	const char *session;
	int rest = 1;
	size_t count = 0;

	if (words_take(&argc, argv, "--session", &session, e) < 0 ||
	    (session != NULL && words_session(session, c->session, e) < 0))
		return -1;
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--", 2) == 0)
			argv[rest++] = argv[i];
		else if (count == PATHS)
			return err_set(
			    e, ERR_invalid_argument, "unexpected argument '%.64s'", argv[i]);
		else
			c->paths[count++] = argv[i];
	argv[rest] = NULL;
	c->transfer = (struct transfer){ rest, argv };
	return count > 0 ? 0 : err_set(e, ERR_invalid_argument, "FILE required");
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const char *
session_of(const struct copy *c)
{
	return c->session[0] != '\0' ? c->session : NULL;
}

/* ---- to a session ---- */

static int
put(struct copy *c, struct err *e)
{
	const char *from = c->paths[0], *to = c->paths[1] != NULL ? c->paths[1] : last_part(from);
	bool is_stdin = strcmp(from, "-") == 0;
	auto_fd int fd = open(is_stdin ? "/dev/stdin" : from, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (is_stdin && c->paths[1] == NULL)
		return err_set(e, ERR_invalid_argument, "of stdin, name the file in the session");
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %s", from);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_invalid_argument,
		    "%s is a directory; make an archive of it, and unpack that with a program",
		    from);
	return transfer_put(&c->transfer, session_of(c), fd, to, e);
}

/* ---- from a session ---- */

/* A directory stands for the file of that name in it. */
static void
place_of(const struct copy *c, char *path, size_t size)
{
	const char *name = last_part(c->paths[0]), *to = c->paths[1] != NULL ? c->paths[1] : name;
	struct stat st;

	if (stat(to, &st) == 0 && S_ISDIR(st.st_mode))
		snprintf(path, size, "%s/%s", to, name);
	else
		snprintf(path, size, "%s", to);
}

static int
get_file(const struct copy *c, struct err *e)
{
	char path[4096], draft[4096 + 16];

	place_of(c, path, sizeof path);
	snprintf(draft, sizeof draft, "%s.XXXXXX", path);

	mode_t mask = umask(022);
	auto_fd int fd = mkostemp(draft, O_CLOEXEC);

	umask(mask);
	if (fd < 0)
		return err_sys(e, "make %s", path);

	int status = transfer_get(&c->transfer, session_of(c), c->paths[0], fd, e);

	if (status == 0 && (fchmod(fd, 0644) < 0 || rename(draft, path) < 0))
		status = err_sys(e, "make %s", path);
	if (status < 0)
		unlink(draft);
	return status;
}

static int
get(struct copy *c, struct err *e)
{
	if (c->paths[1] != NULL && strcmp(c->paths[1], "-") == 0)
		return transfer_get(&c->transfer, session_of(c), c->paths[0], STDOUT_FILENO, e);
	return get_file(c, e);
}

/* ---- either ---- */

/* Splits SESSION:PATH; false: the path is one of this machine. */
static bool
split(struct copy *c, size_t side, struct err *e)
{
	const char *colon = strchr(c->paths[side], ':'), *slash = strchr(c->paths[side], '/');
	char name[WORDS_SESSION];

	if (colon == NULL || (slash != NULL && slash < colon))
		return false;
	snprintf(name, sizeof name, "%.*s", (int)(colon - c->paths[side]), c->paths[side]);
	if (name[0] != '\0' && words_session(name, c->session, e) < 0)
		c->session[0] = '\0';
	c->paths[side] = colon + 1;
	return true;
}

static int
copy(struct copy *c, struct err *e)
{
	if (c->paths[1] == NULL)
		return err_set(e, ERR_invalid_argument, "TO required");

	bool from = split(c, 0, e), to = split(c, 1, e);

	if (from == to)
		return err_set(e, ERR_invalid_argument,
		    "one of FROM and TO must be SESSION:PATH; :PATH is in your default session");
	if (to && c->paths[1][0] == '\0')
		c->paths[1] = NULL;
	return from ? get(c, e) : put(c, e);
}

static int
run(enum command_id id, int argc, char **argv, int (*act)(struct copy *, struct err *))
{
	struct copy c = { .command = &commands[id] };
	struct err e = { 0 };

	if (words_help(c.command, argc, argv))
		return 0;
	if (read_line(&c, argc, argv, &e) == 0 && act(&c, &e) == 0)
		return 0;
	return words_fail(c.command, &e);
}

int
copy_put(int argc, char **argv)
{
	return run(COMMAND_put, argc, argv, put);
}

int
copy_get(int argc, char **argv)
{
	return run(COMMAND_get, argc, argv, get);
}

int
copy_either(int argc, char **argv)
{
	return run(COMMAND_cp, argc, argv, copy);
}
