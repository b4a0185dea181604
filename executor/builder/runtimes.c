/* SPDX-License-Identifier: Apache-2.0 */
/* runtimes.c - commands by number.  Trusts the settings, which are the operator's. */
#include "executor/builder/runtimes.h"

#include "common/table/schema.h"
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
static struct err refused; /* why boxes cannot have python; code ERR_none: they can */

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

void
runtimes_set_python(const char *path)
{
	runtimes[language_python].argv[0] = path;
}

const char *
runtimes_python(void)
{
	return runtimes[language_python].argv[0];
}

void
runtimes_refuse_python(const struct err *why)
{
	refused = *why;
}

bool
runtimes_have(uint32_t number)
{
	return number < count;
}

int
runtimes_check(uint32_t number, struct err *e)
{
	const char *path = runtimes[number].argv[0];

	if (number == language_python && refused.code != ERR_none) {
		*e = refused;
		return -1;
	}
	if (path == NULL || access(path, X_OK) < 0)
		return err_set(e, ERR_runtime_missing, "this host has no program for it: %s",
		    path != NULL ? path : "none is known");
	return 0;
}

const char *const *
runtimes_command(uint32_t number, const char **extension)
{
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
