/* SPDX-License-Identifier: Apache-2.0 */
/* languages.c - interpreters and modules, as the executor reports them. */
#include "compose/cloister/doctor/checks.h"

#include <stdio.h>
#include <string.h>

static const char *const sciences[] = { "numpy", "pandas", "scipy", "matplotlib" };

enum { SCIENCES = sizeof sciences / sizeof *sciences };

static const json_t *
find(const struct machine *m, const char *language)
{
	size_t i;
	json_t *runtime;

	json_array_foreach(json_object_get(m->info, "runtimes"), i,
	    runtime) if (strcmp(json_string_value(json_object_get(runtime, "language")) ?: "",
			     language) == 0 &&
			 json_is_string(json_object_get(runtime, "version"))) return runtime;
	return NULL;
}

static void
check(const struct machine *m, const char *language, enum diagnosis_state without,
    struct diagnosis *f)
{
	const json_t *runtime = find(m, language);

	if (m->info == NULL)
		diagnosis_set(f, DIAGNOSIS_unchecked, "%s", m->silent);
	else if (runtime == NULL)
		diagnosis_set(f, without, "this host has no program for it");
	else
		diagnosis_set(f, DIAGNOSIS_ok, "%.100s, %.200s",
		    json_string_value(json_object_get(runtime, "version")),
		    json_string_value(json_object_get(runtime, "path")) ?: "?");
}

void
languages_python(const struct machine *m, struct diagnosis *f)
{
	check(m, "python", DIAGNOSIS_missing, f);
}

void
languages_node(const struct machine *m, struct diagnosis *f)
{
	check(m, "node", DIAGNOSIS_weaker, f);
}

void
languages_shell(const struct machine *m, struct diagnosis *f)
{
	check(m, "shell", DIAGNOSIS_weaker, f);
}

static bool
has_module(const json_t *environment, const char *name)
{
	size_t i;
	json_t *module;

	json_array_foreach(json_object_get(environment, "modules"), i,
	    module) if (strcmp(json_string_value(module) ?: "", name) == 0) return true;
	return false;
}

/* Names of modules that the environment lacks, with commas. */
static void
list_lacking(const json_t *environment, char *names, size_t size)
{
	size_t used = 0;

	names[0] = '\0';
	for (size_t i = 0; i < SCIENCES && used < size; i++)
		if (!has_module(environment, sciences[i]))
			used += (size_t)snprintf(
			    names + used, size - used, "%s%s", used > 0 ? ", " : "", sciences[i]);
}

/* The default environment has them, or another one, which a call can name. */
void
languages_data_science(const struct machine *m, struct diagnosis *f)
{
	const json_t *environments = json_object_get(find(m, "python"), "environments");
	char first[100] = "", names[100];
	size_t i;
	json_t *environment;

	if (json_array_size(environments) == 0) {
		diagnosis_set(f, DIAGNOSIS_unchecked, "%s",
		    m->info == NULL ? m->silent : "there is no Python");
		return;
	}
	json_array_foreach((json_t *)(uintptr_t)environments, i, environment)
	{
		list_lacking(environment, names, sizeof names);
		if (i == 0)
			snprintf(first, sizeof first, "%s", names);
		if (names[0] == '\0') {
			diagnosis_set(f, DIAGNOSIS_ok, "in the environment %.64s",
			    json_string_value(json_object_get(environment, "name")) ?: "?");
			return;
		}
	}
	diagnosis_set(f, DIAGNOSIS_weaker, "Python has no %s", first);
}
