/* SPDX-License-Identifier: Apache-2.0 */
/* runtimes.c - commands by number.  Trusts the settings, which are the operator's. */
#include "executor/builder/runtimes.h"

#include "common/table/schema.h"
#include "executor/builder/image.h"
#include "executor/builder/order.h"

#include <string.h>
#include <unistd.h>

struct command {
	const char *argv[RUNTIMES_MAX_ARGS + 2]; /* with room for the file, and the end */
	const char *extension;                   /* NULL: it has a driver */
};

/* clang-format off */
static struct command runtimes[ORDER_MAX_RUNTIMES] = {
#define RUNTIME(language, ...) [language_##language] = { { __VA_ARGS__ }, NULL },
#include "executor/builder/runtimes.def"
};

static const char *const variables[ORDER_MAX_RUNTIMES] = {
#define VARIABLE(language, pair) [language_##language] = pair,
#include "executor/builder/runtimes.def"
};
/* clang-format on */

static size_t count = language_COUNT;

/* One for each environment, of which the first is that of boxes that name none. */
static struct python {
	const char *path;
	const char *image;  /* the directory of its files; NULL: it is one of the host's */
	struct err refused; /* why boxes cannot have it; code ERR_none: they can */
} pythons[ORDER_MAX_ENVIRONMENTS];

static size_t npythons;

int
runtimes_add(const char *const *args, size_t n, struct err *e)
{
	struct command *r = &runtimes[count];

	if (n < 3 || n > RUNTIMES_MAX_ARGS || count == ORDER_MAX_RUNTIMES)
		return err_set(e, ERR_invalid_argument,
		    "runtime: name, extension, and 1 to %d "
		    "arguments; %d of them at most",
		    RUNTIMES_MAX_ARGS - 2, ORDER_MAX_RUNTIMES - (int)language_COUNT);
	r->extension = args[1];
	memcpy(r->argv, args + 2, (n - 2) * sizeof *args);
	count++;
	return 0;
}

int
runtimes_add_python(const char *path, struct err *e)
{
	if (npythons == ORDER_MAX_ENVIRONMENTS)
		return err_set(e, ERR_invalid_argument, "python: more than %d environments",
		    ORDER_MAX_ENVIRONMENTS);
	pythons[npythons++].path = path;
	return 0;
}

int
runtimes_add_image(const char *path, const char *directory, struct err *e)
{
	if (runtimes_add_python(path, e) < 0)
		return -1;
	pythons[npythons - 1].image = directory;
	return 0;
}

const char *
runtimes_image(uint32_t environment)
{
	return pythons[environment].image;
}

const char *
runtimes_python(uint32_t environment)
{
	if (environment < npythons)
		return pythons[environment].path;
	return environment == 0 ? runtimes[language_python].argv[0] : NULL;
}

void
runtimes_refuse_python(uint32_t environment, const struct err *why)
{
	pythons[environment].refused = *why;
}

bool
runtimes_have(uint32_t number)
{
	return number < count;
}

int
runtimes_check(uint32_t number, uint32_t environment, struct err *e)
{
	const char *path =
	    number == language_python ? runtimes_python(environment) : runtimes[number].argv[0];

	if (number == language_python && pythons[environment].refused.code != ERR_none) {
		*e = pythons[environment].refused;
		return -1;
	}
	if (pythons[environment].image != NULL)
		return path != NULL && image_has(environment, path)
		           ? 0
		           : err_set(e, ERR_runtime_missing,
				 "the image of this environment has no program for it: %s",
				 path != NULL ? path : "none is known");
	if (path == NULL || access(path, X_OK) < 0)
		return err_set(e, ERR_runtime_missing, "this host has no program for it: %s",
		    path != NULL ? path : "none is known");
	return 0;
}

const char *const *
runtimes_command(uint32_t number, uint32_t environment, const char **extension)
{
	if (number == language_python)
		runtimes[number].argv[0] = runtimes_python(environment);
	*extension = runtimes[number].extension;
	return runtimes[number].argv;
}

const char *
runtimes_variable(uint32_t number)
{
	return variables[number];
}

/* Also searches a word that is passed to a shell. */
static bool
is_in_words(const char *const *words, const char *directory)
{
	size_t size = strlen(directory);

	for (; *words != NULL; words++)
		for (const char *at = *words; (at = strstr(at, directory)) != NULL; at += size)
			if (at[size] == '/')
				return true;
	return false;
}

bool
runtimes_name(const char *directory)
{
	for (size_t i = 0; i < count; i++)
		if (is_in_words(runtimes[i].argv, directory))
			return true;
	return false;
}
