/* SPDX-License-Identifier: Apache-2.0 */
/* daemons.c - do the daemons accept their settings, are they ready, and are they of this build? */
#include "compose/cloister/doctor/checks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };

void
daemons_settings(const struct machine *m, struct diagnosis *f)
{
	if (m->refusing != NULL) {
		diagnosis_set(f, DIAGNOSIS_missing, "%s refuses its settings", m->refusing);
		diagnosis_remedy(f, "cloister daemon %s --print-settings", m->refusing);
	} else {
		diagnosis_set(f, DIAGNOSIS_ok, "every daemon accepts its own");
	}
}

/* The first daemon that has the member; without a name, that is not ready. */
static const json_t *
first(const json_t *daemons, const char *member)
{
	size_t i;
	json_t *d;

	json_array_foreach((json_t *)(uintptr_t)daemons, i,
	    d) if (member != NULL ? json_is_true(json_object_get(d, member))
				  : !json_is_true(json_object_get(d, "ready"))) return d;
	return NULL;
}

void
daemons_ready(const struct machine *m, struct diagnosis *f)
{
	const json_t *daemons = json_object_get(m->status, "daemons");
	const json_t *lost = first(daemons, "given_up") ?: first(daemons, "fault"),
		     *late = first(daemons, NULL), *one = lost ?: late;
	const char *name = json_string_value(json_object_get(one, "name")),
		   *why = json_string_value(json_object_get(one, "why"));

	if (!m->running)
		diagnosis_set(f, DIAGNOSIS_unchecked, "%s", m->silent);
	else if (m->status == NULL)
		diagnosis_set(f, DIAGNOSIS_ok, "they run, without a supervisor of this user");
	else if (one != NULL)
		diagnosis_set(f, lost != NULL ? DIAGNOSIS_missing : DIAGNOSIS_weaker,
		    "%.40s is not ready%s%.200s", name ?: "one", why != NULL ? ": " : "",
		    why ?: "");
	else
		diagnosis_set(f, DIAGNOSIS_ok, "all %zu are ready", json_array_size(daemons));
}

/* The supervisor starts the daemons from its own directory. The kernel appends " (deleted)" to the
 * path of a program that was replaced. */
void
daemons_build(const struct machine *m, struct diagnosis *f)
{
	char link[PATH], program[PATH];
	const json_t *pid = json_object_get(m->status, "pid");
	ssize_t n;

	snprintf(link, sizeof link, "%s/%lld/exe", m->proc, (long long)json_integer_value(pid));
	n = pid == NULL ? -1 : readlink(link, program, sizeof program - 1);
	program[n < 0 ? 0 : n] = '\0';
	if (!m->running)
		diagnosis_set(f, DIAGNOSIS_unchecked, "%s", m->silent);
	else if (m->differences != NULL)
		diagnosis_set(f, DIAGNOSIS_weaker, "%s", m->differences);
	else if (n >= 0 && strcmp(program, m->self) != 0)
		diagnosis_set(f, DIAGNOSIS_weaker, "they were started by %.300s", program);
	else
		diagnosis_set(f, DIAGNOSIS_ok, "they run as this command would start them");
}
