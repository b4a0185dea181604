/* SPDX-License-Identifier: Apache-2.0 */
/* typescript.c - the package that TypeScript needs. */
#include "executor/run/typescript.h"

#include "executor/options.h"

#include "common/base/auto.h"

#include <string.h>

static const char package[] = "amaro";

/* Also one with a version. */
static bool
has(const struct texts *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		if (strncmp(specs->items[i], package, sizeof package - 1) == 0 &&
		    strchr("@", specs->items[i][sizeof package - 1]) != NULL)
			return true;
	return false;
}

int
typescript_need(struct texts *packages, const struct session *session, struct err *e)
{
	const struct package_set *set = session != NULL ? session->packages : NULL;

	if (has(packages) || (set != NULL && packages->count == 0 && has(&set->specs)))
		return 0;
	if (!options.packages)
		return err_set(e, ERR_runtime_missing,
		    "language: TypeScript needs the package %s of npm, and the operator of this "
		    "server does not allow packages",
		    package);
	return texts_add(packages, package) < 0 ? err_sys(e, "packages") : 0;
}
