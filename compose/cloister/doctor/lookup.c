/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - does a shell find this command? */
#include "compose/cloister/doctor/lookup.h"

#include "compose/cloister/doctor/checks.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool
lookup_find(const char *search, const char *name, char *path, size_t size)
{
	if (strchr(name, '/') != NULL)
		return snprintf(path, size, "%s", name) < (int)size && is_program(path);
	for (const char *at = search; *at != '\0'; at += *at == ':') {
		int length = (int)strcspn(at, ":");

		if (snprintf(path, size, "%.*s/%s", length, at, name) < (int)size &&
		    is_program(path))
			return true;
		at += length;
	}
	return false;
}

void
lookup_check(const struct machine *m, struct diagnosis *f)
{
	char path[PATH];
	bool found = lookup_find(m->search, "cloister", path, sizeof path);
	auto_free char *real = found ? realpath(path, NULL) : NULL;

	diagnosis_remedy(f,
	    m->uid == 0 ? "ln -sf %.250s /usr/local/bin/cloister"
			: "mkdir -p ~/.local/bin && ln -sf %.250s ~/.local/bin/cloister && export "
			  "PATH=~/.local/bin:$PATH",
	    m->self);
	if (!found)
		diagnosis_set(f, DIAGNOSIS_weaker, "no directory of PATH has `cloister`");
	else if (strcmp(real ?: path, m->self) != 0)
		diagnosis_set(f, DIAGNOSIS_weaker, "PATH finds another one, %.200s", path);
	else
		diagnosis_set(f, DIAGNOSIS_ok, "%.300s", path);
}
