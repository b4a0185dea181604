/* SPDX-License-Identifier: Apache-2.0 */
/* installed.c - programs and files of this host that boxes see. */
#include "compose/cloister/doctor/checks.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

static void
check(const struct machine *m, const char *program, struct diagnosis *f)
{
	char path[PATH];

	snprintf(path, sizeof path, "%s/%s", m->programs, program);
	if (access(path, X_OK) == 0)
		diagnosis_set(f, DIAGNOSIS_ok, "%s", path);
	else
		diagnosis_set(f, DIAGNOSIS_weaker, "no program %s", path);
}

void
installed_shellcheck(const struct machine *m, struct diagnosis *f)
{
	check(m, "shellcheck", f);
}

void
installed_shfmt(const struct machine *m, struct diagnosis *f)
{
	check(m, "shfmt", f);
}

void
installed_npm(const struct machine *m, struct diagnosis *f)
{
	check(m, "npm", f);
}

void
installed_certificates(const struct machine *m, struct diagnosis *f)
{
	struct stat st;

	if (stat(m->certificates, &st) < 0)
		diagnosis_set(f, DIAGNOSIS_weaker, "no file %s", m->certificates);
	else if (st.st_size == 0)
		diagnosis_set(f, DIAGNOSIS_weaker, "%s is empty", m->certificates);
	else
		diagnosis_set(f, DIAGNOSIS_ok, "%s", m->certificates);
}
