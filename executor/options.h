/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the executor's settings: options.def as a struct and as the table that fills it. */
#pragma once

#include "common/table/settings.h"

/* clang-format off */
struct options {
#define SETTING(name, kind, ...) C_##kind name;
#include "executor/options.def"

	/* Worked out by options_check(). */
	struct texts imports;      /* allowed_imports, taken apart; none: any */
};
/* clang-format on */

extern struct options options;
extern const struct setting options_table[];

/* After the settings were read, before the jail: 0 becomes what it stands for; a default over its
 * cap is refused by name. */
int options_check(struct err *);
