/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing.c - says how to get a missing module, and by which name.
 *
 * The program says what it lacks, and may lie.  A hint therefore contains names of modules.def
 * and of environments only, so that no program can have its caller install a package of the
 * program's choice.
 */
#include "executor/run/outcome/missing.h"

#include "executor/environment.h"
#include "executor/inquiry.h"
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
#define HAS        "The environment %s has that module: run the code again with environment %s."
#define HAS_FOR_SESSIONS \
	"The environment %s has that module: create a session with environment %s, or call " \
	"install_package with its package and this session_id."

/* clang-format off */
static const struct {
	const char *name, *package;
} modules[] = {
#define MODULE(name, package) { name, package },
#include "executor/run/outcome/modules.def"
};
/* clang-format on */

/* The name of a missing module, and what follows it. */
struct lack {
	const char *at; /* NULL: the text names none */
	size_t size;
};

static struct lack
lack_in(const char *text, size_t size)
{
	static const char before[] = "No module named '";
	const char *at = size > 0 ? memmem(text, size, before, sizeof before - 1) : NULL;

	if (at == NULL)
		return (struct lack){ 0 };
	at += sizeof before - 1;
	return (struct lack){ at, size - (size_t)(at - text) };
}

static struct lack
lack_of(const struct box_end *end)
{
	if (end->error_text != NULL)
		return lack_in(end->error_text, strlen(end->error_text));
	return lack_in(end->err.data, end->err.size);
}

static bool
is_named(const struct lack *lack, const char *name, size_t n)
{
	return lack->at != NULL && lack->size > n && memcmp(lack->at, name, n) == 0 &&
	       (lack->at[n] == '\'' || lack->at[n] == '.');
}

/* NULL: it is not known. */
static const char *
package_of(const struct lack *lack)
{
	for (size_t i = 0; i < COUNT(modules); i++)
		if (is_named(lack, modules[i].name, strlen(modules[i].name)))
			return modules[i].package;
	return NULL;
}

/* The words are "module" or "module==version". */
static bool
has(const char *words, const struct lack *lack)
{
	for (size_t n; *words != '\0' && *words != '\n'; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " \n");
		if (is_named(lack, words, strcspn(words, "= \n")))
			return true;
	}
	return false;
}

/* The named environment that has it; NULL: none. */
static const char *
environment_with(const struct lack *lack)
{
	for (size_t i = 1; i < environment_count(); i++)
		if (has(inquiry_of_environment(i, true), lack))
			return environment_at(i)->name;
	return NULL;
}

char *
missing_hint(const struct box_end *end, bool in_session)
{
	const struct lack lack = lack_of(end);
	const char *package = package_of(&lack), *environment = environment_with(&lack);
	char name[64], *hint;
	int n;

	snprintf(name, sizeof name, ", %s,", package != NULL ? package : ANOTHER);
	if (environment != NULL)
		n = asprintf(&hint, in_session ? HAS_FOR_SESSIONS : HAS, environment, environment);
	else if (!options.packages)
		return strdup(OTHERWISE);
	else
		n = asprintf(&hint, in_session ? IN_SESSION : ALONE, name);
	return n < 0 ? NULL : hint;
}
