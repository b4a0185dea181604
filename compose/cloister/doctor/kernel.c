/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - what the kernel can do, and what its settings allow to an ordinary user.
 *
 * A setting of the kernel is only a hint: if the executor has made a box, the box counts.
 */
#include "compose/cloister/doctor/checks.h"

#include <stdio.h>
#include <string.h>

enum {
	NEEDED = 5012, /* mount_setattr(2) */
	WHOLE = 6012,  /* Landlock's scopes */
	ABI_SCOPES = 6,
};

void
kernel_version(const struct machine *m, struct diagnosis *f)
{
	char text[128], *end;
	unsigned long major, minor;

	if (machine_text(m->proc, "sys/kernel/osrelease", text, sizeof text) < 0) {
		diagnosis_set(f, DIAGNOSIS_missing, "its version cannot be read below %s", m->proc);
		return;
	}
	major = strtoul(text, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	unsigned long number = major * 1000 + minor;

	diagnosis_set(f,
	    number < NEEDED  ? DIAGNOSIS_missing
	    : number < WHOLE ? DIAGNOSIS_weaker
			     : DIAGNOSIS_ok,
	    "Linux %s", text);
}

/* Has the executor made a box with a user namespace? */
static bool
has_made_one(const struct machine *m)
{
	const json_t *isolation = json_object_get(m->info, "isolation");
	size_t i;
	json_t *layer;

	json_array_foreach(json_object_get(isolation, "layers"), i,
	    layer) if (strcmp(json_string_value(layer) ?: "", "user namespace") == 0) return true;
	return false;
}

void
kernel_namespaces(const struct machine *m, struct diagnosis *f)
{
	int64_t most = machine_number(m->proc, "sys/user/max_user_namespaces", -1);

	if (most < 0)
		diagnosis_set(f, m->uid == 0 ? DIAGNOSIS_weaker : DIAGNOSIS_missing,
		    "this kernel has no user namespaces");
	else if (most == 0)
		diagnosis_set(f, m->uid == 0 ? DIAGNOSIS_weaker : DIAGNOSIS_missing,
		    "user.max_user_namespaces is 0");
	else
		diagnosis_set(f, DIAGNOSIS_ok, "up to %lld", (long long)most);
}

/* A kernel without the setting allows them: it is Debian's and Ubuntu's own. */
void
kernel_clone(const struct machine *m, struct diagnosis *f)
{
	if (machine_number(m->proc, "sys/kernel/unprivileged_userns_clone", 1) != 0)
		diagnosis_set(f, DIAGNOSIS_ok, "allowed to ordinary users");
	else if (m->uid == 0 || has_made_one(m))
		diagnosis_set(
		    f, DIAGNOSIS_ok, "refused to ordinary users, but not to these daemons");
	else
		diagnosis_set(f, DIAGNOSIS_missing, "kernel.unprivileged_userns_clone is 0");
}

void
kernel_apparmor(const struct machine *m, struct diagnosis *f)
{
	bool restricts =
	    machine_number(m->proc, "sys/kernel/apparmor_restrict_unprivileged_userns", 0) != 0;

	if (!restricts)
		diagnosis_set(f, DIAGNOSIS_ok, "does not restrict user namespaces");
	else if (m->uid == 0 || has_made_one(m))
		diagnosis_set(f, DIAGNOSIS_ok, "restricts others, but not these daemons");
	else
		diagnosis_set(
		    f, DIAGNOSIS_missing, "kernel.apparmor_restrict_unprivileged_userns is 1");
	diagnosis_remedy(f,
	    "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile cloister-builder "
	    "%.250s flags=(unconfined) {\\n  userns,\\n}\\n' "
	    "| sudo tee /etc/apparmor.d/cloister-builder && sudo apparmor_parser -r "
	    "/etc/apparmor.d/cloister-builder",
	    m->builder);
}

void
kernel_seccomp(const struct machine *m, struct diagnosis *f)
{
	char text[256];

	if (machine_text(m->proc, "sys/kernel/seccomp/actions_avail", text, sizeof text) < 0)
		diagnosis_set(f, DIAGNOSIS_missing, "this kernel has no filters of system calls");
	else if (strstr(text, "kill_process") == NULL || strstr(text, "errno") == NULL)
		diagnosis_set(f, DIAGNOSIS_missing, "it lacks an action; it has %s", text);
	else
		diagnosis_set(f, DIAGNOSIS_ok, "filters of system calls");
}

void
kernel_landlock(const struct machine *m, struct diagnosis *f)
{
	if (m->landlock < 1)
		diagnosis_set(f, DIAGNOSIS_weaker,
		    "not in this kernel, or `landlock` is not in its parameter lsm=");
	else
		diagnosis_set(f, m->landlock < ABI_SCOPES ? DIAGNOSIS_weaker : DIAGNOSIS_ok,
		    "ABI %d", m->landlock);
}
