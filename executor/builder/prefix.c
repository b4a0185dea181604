/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefix.c - finds what to bind for an interpreter, and refuses what an accident would show: the
 * directory of ~/bin/python is the whole home.
 *
 * Trusts the setting python, which is the operator's.
 */
#include "executor/builder/prefix.h"

#include "common/base/auto.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What a box has for itself. */
static const char *const own[] = { "/cloister/", "/dev/", "/etc/", "/proc/", "/run/", "/sandbox/",
	"/sys/", "/tmp/", "/workspace/" };

static bool
begins(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

/* Those are in the box as they are on the host (root.c). */
static bool
is_there(const char *path)
{
	return begins(path, "/usr/") || begins(path, "/bin/") || begins(path, "/sbin/") ||
	       begins(path, "/lib");
}

/* pyvenv.cfg (PEP 405), or the standard library of an installation. */
static bool
is_prefix(const char *directory)
{
	char path[PREFIX_BYTES + 32];
	struct stat st;
	glob_t found = { 0 };

	snprintf(path, sizeof path, "%s/pyvenv.cfg", directory);
	if (stat(path, &st) == 0)
		return true;
	snprintf(path, sizeof path, "%s/lib/python3*/os.py", directory);

	bool is = glob(path, 0, NULL, &found) == 0;

	globfree(&found);
	return is;
}

/* Programs have a uid of their own if root starts the daemons. */
static int
check(const char *python, const char *directory, struct err *e)
{
	struct stat st;

	for (size_t i = 0; i < COUNT(own); i++)
		if (begins(directory, own[i]))
			return err_set(e, ERR_runtime_missing,
			    "%.80s: a box has a %.16s of its own; move it to another directory",
			    python, own[i]);
	if (!is_prefix(directory))
		return err_set(e, ERR_runtime_missing,
		    "%.80s: %.80s is no virtual environment and no installation of Python, so it "
		    "is not shown to programs",
		    python, directory);
	if (stat(directory, &st) < 0)
		return err_sys(e, "%.80s", directory);
	if (geteuid() == 0 && (st.st_mode & 05) != 05)
		return err_set(e, ERR_runtime_missing,
		    "%.80s: programs may not read %.80s; chmod o+rx would let them", python,
		    directory);
	return 0;
}

static int
add(const char *python, const char *path, char prefixes[PREFIXES][PREFIX_BYTES], size_t *n,
    struct err *e)
{
	char *to = prefixes[*n];

	if (is_there(path))
		return 0;
	snprintf(to, PREFIX_BYTES, "%s", path);
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(to, '/');

		if (slash == NULL || slash == to)
			return err_set(e, ERR_runtime_missing,
			    "%.80s: is not in the bin directory of an environment", python);
		*slash = '\0';
	}
	if (*n > 0 && strcmp(prefixes[0], to) == 0)
		return 0;
	if (check(python, to, e) < 0)
		return -1;
	(*n)++;
	return 0;
}

/* The name of the program in its directory without links: a link there may be the environment's
 * only program. */
static char *
settled(const char *python)
{
	const char *slash = strrchr(python, '/');
	auto_free char *directory =
	    slash == NULL ? NULL : strndup(python, (size_t)(slash - python));
	auto_free char *real = directory == NULL ? NULL : realpath(directory, NULL);
	char *path = NULL;

	if (real == NULL || asprintf(&path, "%s%s", real, slash) < 0)
		return NULL;
	return path;
}

int
prefix_find(const char *python, char prefixes[PREFIXES][PREFIX_BYTES], size_t *n, struct err *e)
{
	auto_free char *path = settled(python), *real = realpath(python, NULL);

	*n = 0;
	if (path == NULL || real == NULL)
		return err_sys(e, "%.80s", python);
	if (add(python, path, prefixes, n, e) < 0)
		return -1;
	return add(python, real, prefixes, n, e);
}
