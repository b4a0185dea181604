/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the executor's settings: options.def as a struct and as the table that fills it. */
#pragma once

#include "common/table/settings.h"

/* clang-format off */
struct options {
#define SETTING(name, kind, ...) C_##kind name;
#include "executor/options.def"

	/* Set by options_check(). */
	struct texts imports;      /* allowed_imports, split; none: any */
	struct texts url_hosts;    /* package_hosts, split */
};
/* clang-format on */

extern struct options options;
extern const struct setting options_table[];

/* Call after the settings were read, before the jail.  Replaces 0 by its meaning; fails with the
 * name of a default that exceeds its cap. */
int options_check(struct err *);
