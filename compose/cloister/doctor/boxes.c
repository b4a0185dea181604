/* SPDX-License-Identifier: Apache-2.0 */
/* boxes.c - the layers of the box that the executor tried, as it reports them. */
#include "compose/cloister/doctor/checks.h"

#include <stdio.h>
#include <string.h>

static const json_t *
member(const struct machine *m, const char *name)
{
	return json_object_get(json_object_get(m->info, "isolation"), name);
}

/* The names of missing layers, with commas; each text is "name" or "name: why". */
static void
list_missing(const struct machine *m, char *names, size_t size)
{
	size_t used = 0, i;
	json_t *text;

	names[0] = '\0';
	json_array_foreach((json_t *)(uintptr_t)member(m, "missing"), i, text)
	{
		const char *name = json_string_value(text) ?: "?";

		if (used < size)
			used += (size_t)snprintf(names + used, size - used, "%s%.*s",
			    used > 0 ? ", " : "", (int)strcspn(name, ":"), name);
	}
}

void
boxes_layers(const struct machine *m, struct diagnosis *f)
{
	size_t count = json_array_size(member(m, "layers"));
	char names[300];

	list_missing(m, names, sizeof names);
	if (m->info == NULL) {
		diagnosis_set(f, DIAGNOSIS_unchecked, "%s", m->silent);
	} else if (count == 0) {
		diagnosis_set(f, DIAGNOSIS_missing, "no box can be made; a run says why");
		diagnosis_remedy(f, "echo 'print(1)' | cloister run -");
	} else if (names[0] != '\0') {
		diagnosis_set(f, DIAGNOSIS_weaker, "%zu in force, missing: %s", count, names);
	} else {
		diagnosis_set(f, DIAGNOSIS_ok, "all %zu are in force", count);
	}
}

void
boxes_uids(const struct machine *m, struct diagnosis *f)
{
	char names[300];

	list_missing(m, names, sizeof names);
	if (m->uid != 0 || strstr(names, "own uid") != NULL)
		diagnosis_set(f, DIAGNOSIS_weaker, "boxes share one uid");
	else if (m->info == NULL)
		diagnosis_set(f, DIAGNOSIS_unchecked, "%s", m->silent);
	else
		diagnosis_set(f, DIAGNOSIS_ok, "each workspace has its own");
}
