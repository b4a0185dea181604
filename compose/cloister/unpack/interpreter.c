/* SPDX-License-Identifier: Apache-2.0 */
/* interpreter.c - looks for it without running anything of the image, which is hostile. */
#include "compose/cloister/unpack/interpreter.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { OLDEST = 10 }; /* the languages' drivers need it */

static const char usual[] = "/usr/local/bin:/usr/bin:/bin";

/* The value of PATH in the image's configuration. */
static const char *
path_of(const struct layout *layout)
{
	const json_t *variables = json_object_get(json_object_get(layout->config, "config"), "Env");

	for (size_t i = 0; i < json_array_size(variables); i++) {
		const char *pair = json_string_value(json_array_get(variables, i));

		if (pair != NULL && strncmp(pair, "PATH=", 5) == 0)
			return pair + 5;
	}
	return usual;
}

/* Where an open file is, from the root of the tree on. */
static int
name_of(const struct tree *tree, int file, char name[PATH_MAX])
{
	char link[32], root[PATH_MAX], full[PATH_MAX];
	ssize_t nroot, nfull;

	snprintf(link, sizeof link, "/proc/self/fd/%d", tree->root);
	nroot = readlink(link, root, sizeof root);
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	nfull = readlink(link, full, sizeof full - 1);
	if (nroot < 0 || nfull <= nroot || memcmp(root, full, (size_t)nroot) != 0)
		return -1;
	full[nfull] = '\0';
	memcpy(name, full + nroot, (size_t)(nfull - nroot) + 1);
	return 0;
}

static unsigned
number_in(const char *name, const char *before)
{
	size_t size = strlen(before);
	char *end = NULL;
	unsigned long n = strncmp(name, before, size) == 0 ? strtoul(name + size, &end, 10) : 0;

	return end != NULL && *end == '\0' && n < 100 ? (unsigned)n : 0;
}

/* By the name of the program, which Debian, the official images and conda all give it, or of its
 * library. */
static unsigned
minor_of(const struct tree *tree, const char *real)
{
	unsigned minor = number_in(strrchr(real, '/') + 1, "python3.");
	char path[PATH_MAX + 32];

	for (unsigned n = OLDEST; minor == 0 && n < 100; n++) {
		snprintf(path, sizeof path, "%.*s/../lib/python3.%u/os.py",
		    (int)(strrchr(real, '/') - real), real, n);

		auto_fd int file = tree_open(tree, path);

		minor = file >= 0 ? n : 0;
	}
	return minor;
}

/* In a virtual environment the program is a link, whose place counts (PEP 405). */
static bool
try(const struct tree *tree, const char *directory, struct interpreter *found)
{
	char path[PATH_MAX + 16], place[PATH_MAX], real[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof path, "%s/python3", directory);

	auto_fd int file = tree_open(tree, path);
	auto_fd int parent = file < 0 ? -1 : tree_open(tree, directory);

	if (parent < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_mode & 0111) == 0 || name_of(tree, parent, place) < 0 ||
	    name_of(tree, file, real) < 0)
		return false;

	int n = snprintf(found->path, sizeof found->path, "%s/python3", place);

	found->minor = minor_of(tree, real);
	return n > 0 && (size_t)n < sizeof found->path;
}

static bool
search(const struct tree *tree, const char *path, struct interpreter *found)
{
	char directory[PATH_MAX];

	for (size_t size; *path != '\0'; path += size + (path[size] == ':')) {
		size = strcspn(path, ":");
		if (size == 0 || size >= sizeof directory || path[0] != '/')
			continue;
		memcpy(directory, path, size);
		directory[size] = '\0';
		if (try(tree, directory, found))
			return true;
	}
	return false;
}

int
interpreter_find(
    const struct tree *tree, const struct layout *layout, struct interpreter *found, struct err *e)
{
	const char *path = path_of(layout);

	if (!search(tree, path, found) && !search(tree, usual, found))
		return err_set(e, ERR_not_found,
		    "the image has no python3 in its PATH, %.150s; programs need one", path);
	if (found->minor < OLDEST)
		return err_set(e, ERR_invalid_argument,
		    "the image's %.100s is no Python 3.%d or newer", found->path, OLDEST);
	return 0;
}
