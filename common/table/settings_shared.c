/* SPDX-License-Identifier: Apache-2.0 */
/* settings_shared.c - the settings of every program, and the default directories of this user. */
#include "common/table/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *
below(const char *directory, const char *name)
{
	char *path;

	must(asprintf(&path, "%s/%s", directory, name) >= 0);
	return path;
}

static char *
default_run(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char name[32];

	if (geteuid() == 0)
		return below("/run", "cloister");
	if (runtime != NULL && *runtime == '/')
		return below(runtime, "cloister");
	snprintf(name, sizeof name, "cloister-%u", (unsigned)geteuid());
	return below("/tmp", name);
}

static char *
default_state(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (geteuid() == 0)
		return below("/var/lib", "cloister");
	if (state != NULL && *state == '/')
		return below(state, "cloister");
	return below(home == NULL ? "" : home, ".local/state/cloister");
}

void
settings_shared(
    struct setting rows[SETTINGS_SHARED], char **run, char **state, char **config, char **log_level)
{
	/* clang-format off */
	const struct setting shared[SETTINGS_SHARED] = {
#define SETTING(name, kind, fallback, low, high, also, doc) \
		{ #name, KIND_##kind, name, fallback, low, high, also, doc },
#include "common/table/options.def"
	};
	/* clang-format on */

	memcpy(rows, shared, sizeof shared);
}
