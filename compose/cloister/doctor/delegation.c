/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delegation.c - may the builder make cgroups with limits?
 *
 * The executor knows, if it runs. Otherwise this looks for what the builder will look for: its own
 * cgroup of version 2, or one above it, in which this user may make others.
 */
#include "compose/cloister/doctor/checks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PATH = 4096,
	NEEDED = 3, /* the first two bits */
};

static const char *const controllers[] = { "memory", "pids", "cpu" };

/* Is the word in a list separated by blanks? */
static bool
has_word(const char *list, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += size)
		if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
			return true;
	return false;
}

/* The path behind "0::", without a slash at its end; "": there is none. */
static void
find_own(const struct machine *m, char own[PATH])
{
	char text[PATH];
	const char *line = NULL;

	own[0] = '\0';
	if (machine_text(m->proc, "self/cgroup", text, sizeof text) == 0)
		line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (line == NULL)
		return;
	line = strstr(line, "0::") + 3;
	snprintf(own, PATH, "%.*s", (int)strcspn(line, "\n"), line);
	for (size_t size = strlen(own); size > 0 && own[size - 1] == '/'; size--)
		own[size - 1] = '\0';
}

/* Which controllers are there: bits by the order of the table. */
static unsigned
controllers_of(const struct machine *m, const char *group)
{
	char directory[2 * PATH], text[512];
	unsigned has = 0;

	snprintf(directory, sizeof directory, "%s%s", m->cgroup, group);
	if (access(directory, W_OK) < 0 ||
	    machine_text(directory, "cgroup.controllers", text, sizeof text) < 0)
		return 0;
	for (unsigned i = 0; i < sizeof controllers / sizeof *controllers; i++)
		has |= has_word(text, controllers[i]) ? 1U << i : 0;
	return has;
}

static bool
is_version_2(const struct machine *m)
{
	char text[512];

	return machine_text(m->cgroup, "cgroup.controllers", text, sizeof text) == 0;
}

/* Climbs to the nearest group that the builder can use. */
static unsigned
find_usable(const struct machine *m)
{
	char own[PATH];
	unsigned has = 0;

	find_own(m, own);
	for (;;) {
		has = controllers_of(m, own);
		if ((has & NEEDED) == NEEDED || own[0] == '\0')
			return has;
		*(strrchr(own, '/') ?: own) = '\0';
	}
}

static void
look(const struct machine *m, struct diagnosis *f)
{
	unsigned has = is_version_2(m) ? find_usable(m) : 0;

	if (!is_version_2(m))
		diagnosis_set(f, m->uid == 0 ? DIAGNOSIS_ok : DIAGNOSIS_weaker, "version 1%s",
		    m->uid == 0 ? "" : ", which delegates nothing to this user");
	else if ((has & NEEDED) != NEEDED)
		diagnosis_set(f, DIAGNOSIS_weaker, "version 2; memory and pids are not delegated");
	else if (has == NEEDED)
		diagnosis_set(f, DIAGNOSIS_weaker, "version 2; cpu is not delegated");
	else
		diagnosis_set(f, DIAGNOSIS_ok, "version 2, with memory, pids and cpu");
}

static bool
lacks_limit(const json_t *isolation)
{
	size_t i;
	json_t *layer;

	json_array_foreach(json_object_get(isolation, "missing"), i,
	    layer) if (strstr(json_string_value(layer) ?: "", " limit") != NULL) return true;
	return false;
}

/* The row's remedy is for the common case: version 2, and a login that is no scope of its own. */
static void
advise(const struct machine *m, struct diagnosis *f)
{
	if (m->uid == 0)
		diagnosis_remedy(f, "cat %s/cgroup.controllers", m->cgroup);
	else if (!is_version_2(m))
		diagnosis_remedy(f,
		    "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&systemd.unified_cgroup_hierarchy=1 /' "
		    "/etc/default/grub && sudo update-grub && sudo reboot");
	else if (find_usable(m) == NEEDED)
		diagnosis_remedy(f,
		    "sudo mkdir -p /etc/systemd/system/user@.service.d && printf "
		    "'[Service]\\nDelegate=cpu memory pids\\n' | sudo tee "
		    "/etc/systemd/system/user@.service.d/cloister.conf && sudo reboot");
}

void
delegation_check(const struct machine *m, struct diagnosis *f)
{
	const json_t *isolation = json_object_get(m->info, "isolation");
	const char *by = json_string_value(json_object_get(isolation, "limits_by"));

	if (by == NULL)
		look(m, f);
	else if (strncmp(by, "cgroup", 6) == 0)
		diagnosis_set(f, lacks_limit(isolation) ? DIAGNOSIS_weaker : DIAGNOSIS_ok,
		    "limits by %.40s%s", by, lacks_limit(isolation) ? ", but not all" : "");
	else
		diagnosis_set(f, DIAGNOSIS_weaker, "limits by %.40s: no cgroup is delegated", by);
	advise(m, f);
}
