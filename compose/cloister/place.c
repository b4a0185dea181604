/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - settings of the command, and paths made of them.
 *
 * Trusts the user who runs it, but no directory of other users: a directory below /tmp may have
 * been made by one.
 */
#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct place place;

/* clang-format off */
static struct setting table[] = {
	[SETTINGS_SHARED] =
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &place.name, fallback, low, high, also, doc },
#include "compose/cloister/options.def"
	{ 0 },
};
/* clang-format on */

/* ---- settings ---- */

/* A detached supervisor has another current directory. */
static int
make_absolute(char **text, struct err *e)
{
	char here[PLACE_PATH], *whole = NULL;

	if (**text == '/' || **text == '\0')
		return 0;
	if (getcwd(here, sizeof(here)) == NULL || asprintf(&whole, "%s/%s", here, *text) < 0)
		return err_sys(e, "current directory");
	free(*text);
	*text = whole;
	return 0;
}

/* Must be called before a name in the table is used. */
static void
fill_table(void)
{
	if (table[0].name == NULL)
		settings_shared(table, &place.run, &place.state, &place.config, &place.log_level);
}

static int
complete(struct err *e)
{
	if (make_absolute(&place.run, e) < 0 || make_absolute(&place.state, e) < 0)
		return -1;
	return make_absolute(&place.config, e);
}

void
place_load(const char *summary, int argc, char **argv)
{
	struct err e;

	fill_table();
	settings_load("supervisor", summary, NULL, table, argc, argv);
	if (complete(&e) == 0)
		return;
	fprintf(stderr, "cloister: %s\n", e.text);
	exit(1);
}

/* The setting of "--idle-s=5" or "--idle-s"; NULL: not a setting of this command. */
static const struct setting *
row_of(const char *argument)
{
	char name[32];

	if (strncmp(argument, "--", 2) != 0)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
	for (char *c = name; (c = strchr(c, '-')) != NULL;)
		*c = '_';
	for (const struct setting *row = table; row->name != NULL; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

static bool
is_shared(const struct setting *row)
{
	return row < table + SETTINGS_SHARED;
}

int
place_split(const char *summary, int argc, char **argv)
{
	auto_free char **ours = calloc((size_t)argc + 1, sizeof(*ours));
	int nours = 1, rest = 1;

	must(ours != NULL);
	fill_table();
	ours[0] = argv[0];
	for (int i = 1; i < argc; i++) {
		const struct setting *row = row_of(argv[i]);
		int parts = row != NULL && row->kind != KIND_FLAG && strchr(argv[i], '=') == NULL &&
		                    i + 1 < argc
		                ? 2
		                : 1;

		for (int part = 0; part < parts; part++) {
			char *argument = argv[i + part];

			if (row != NULL)
				ours[nours++] = argument;
			if (row == NULL || is_shared(row))
				argv[rest++] = argument;
		}
		i += parts - 1;
	}
	argv[rest] = NULL;
	place_load(summary, nours, ours);
	return rest;
}

/* Does the setting belong to one invocation only, not to the location of the supervisor? */
static bool
is_momentary(const struct setting *row)
{
	return row->kind == KIND_FLAG || row->to == &place.lease;
}

static char *
flag_of(const struct setting *row)
{
	char *flag;
	int size = row->kind == KIND_TEXT
	               ? asprintf(&flag, "--%s=%s", row->name, *(char **)row->to)
	               : asprintf(&flag, "--%s=%" PRIu64, row->name, *(uint64_t *)row->to);

	must(size > 0);
	return flag;
}

size_t
place_flags(bool daemon, const char *argv[PLACE_FLAGS])
{
	size_t count = 0;

	for (const struct setting *row = table; row->name != NULL; row++) {
		if (is_momentary(row) || (daemon && !is_shared(row)))
			continue;
		must(count < PLACE_FLAGS);
		argv[count++] = flag_of(row);
	}
	return count;
}

/* ---- directories and programs ---- */

/* Root's daemons have users of their own, who must be able to enter each directory of the path. */
static int
check_entrance(const char *path, struct err *e)
{
	auto_free char *part = strdup(path);
	struct stat st;

	if (geteuid() != 0)
		return 0;
	if (part == NULL)
		return err_sys(e, "%s", path);
	/* The directory itself gets its mode; another process may be just making it. */
	for (char *slash; (slash = strrchr(part, '/')) != NULL && slash > part;) {
		*slash = '\0';
		if (stat(part, &st) == 0 && (st.st_mode & S_IXOTH) == 0)
			return err_set(e, ERR_denied,
			    "%.100s: the users of the daemons cannot enter %.80s; choose another "
			    "directory with --run and --state",
			    path, part);
	}
	return 0;
}

static int
open_own(const char *path, mode_t mode, struct err *e)
{
	auto_fd int fd = fdio_directory(AT_FDCWD, path, mode, e);
	struct stat st;

	if (fd < 0 || check_entrance(path, e) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", path);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_denied, "%s belongs to uid %u; choose another directory",
		    path, (unsigned)st.st_uid);
	if ((st.st_mode & 022) != 0)
		return err_set(e, ERR_denied, "%s can be written by others; make it mode %o", path,
		    (unsigned)mode);
	return take_fd(&fd);
}

/* Daemons with users of their own pass through this directory to their own ones. */
static mode_t
directory_mode(void)
{
	return geteuid() == 0 ? 0755 : 0700;
}

int
place_open_run(struct err *e)
{
	return open_own(place.run, directory_mode(), e);
}

int
place_open_state(struct err *e)
{
	return open_own(place.state, directory_mode(), e);
}

int
place_socket(const char *name, char path[PLACE_SOCKET], struct err *e)
{
	if (snprintf(path, PLACE_SOCKET, "%s/%s", place.run, name) >= PLACE_SOCKET)
		return err_set(e, ERR_invalid_argument,
		    "run: %s is too long for the path of a socket; at most %zu bytes", place.run,
		    PLACE_SOCKET - strlen(name) - 2);
	return 0;
}

/* Asked once: the kernel names a program that an upgrade replaces "PATH (deleted)". */
int
place_self(char path[PLACE_PATH], struct err *e)
{
	static char self[PLACE_PATH];
	ssize_t n = self[0] != '\0' ? 0 : readlink("/proc/self/exe", self, PLACE_PATH - 1);

	if (n < 0)
		return err_sys(e, "readlink /proc/self/exe");
	memcpy(path, self, PLACE_PATH);
	return 0;
}

/* A build has all programs in one directory; an installation has the daemons in libexec, and so
 * what this command executes, which executes it in turn. */
int
place_program(const char *name, char path[PLACE_PATH], struct err *e)
{
	static const char *const directories[] = { "", "../libexec/cloister/", "../../bin/" };
	char self[PLACE_PATH];

	if (place_self(self, e) < 0)
		return -1;

	int directory = (int)(strrchr(self, '/') - self);

	for (size_t i = 0; i < COUNT(directories); i++)
		if (snprintf(path, PLACE_PATH, "%.*s/%s%s", directory, self, directories[i], name) <
			PLACE_PATH &&
		    access(path, X_OK) == 0)
			return 0;
	return err_set(e, ERR_not_found,
	    "%s is neither in the directory of %s nor in ../libexec/cloister", name, self);
}
