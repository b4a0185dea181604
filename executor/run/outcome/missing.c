/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing.c - says how to get a missing module, and by which name.
 *
 * The program says what it lacks, and may lie.  A hint therefore contains names of modules.def
 * only, so that no program can have its caller install a package of the program's choice.
 */
#include "executor/run/outcome/missing.h"

#include "executor/options.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

#define LACKS "That module is not installed. "
#define OTHERWISE \
	LACKS "Use the standard library or an installed module. Only a run that may reach " \
	      "a package index (allowed_domains) can install packages, with pip or npm."
#define AGAIN      LACKS "Run the code again with its package%s in packages, or "
#define IN_SESSION AGAIN "call install_package with it and this session_id."
#define ALONE      AGAIN "install it into a session with install_package."
#define ANOTHER    "which may have another name"

/* clang-format off */
static const struct {
	const char *name, *package;
} modules[] = {
#define MODULE(name, package) { name, package },
#include "executor/run/outcome/modules.def"
};
/* clang-format on */

/* Is the module that the text begins with of that name? */
static bool
is_module(const char *text, size_t size, const char *name)
{
	size_t n = strlen(name);

	return size > n && memcmp(text, name, n) == 0 && (text[n] == '\'' || text[n] == '.');
}

/* The package of the module that the text says is missing; NULL: it is not known. */
static const char *
package_in(const char *text, size_t size)
{
	static const char before[] = "No module named '";
	const char *at = size > 0 ? memmem(text, size, before, sizeof before - 1) : NULL;

	if (at == NULL)
		return NULL;
	at += sizeof before - 1;
	for (size_t i = 0; i < COUNT(modules); i++)
		if (is_module(at, size - (size_t)(at - text), modules[i].name))
			return modules[i].package;
	return NULL;
}

static const char *
package_of(const struct box_end *end)
{
	if (end->error_text != NULL)
		return package_in(end->error_text, strlen(end->error_text));
	return package_in(end->err.data, end->err.size);
}

char *
missing_hint(const struct box_end *end, bool in_session)
{
	const char *package = package_of(end);
	char name[64], *hint;
	int n;

	if (!options.packages)
		return strdup(OTHERWISE);
	snprintf(name, sizeof name, ", %s,", package != NULL ? package : ANOTHER);
	n = in_session ? asprintf(&hint, IN_SESSION, name) : asprintf(&hint, ALONE, name);
	return n < 0 ? NULL : hint;
}
