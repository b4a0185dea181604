/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the executor's settings, options.def, and what follows from them. */
#pragma once

#define OPTIONS "executor/options.def"
#include "common/table/options.h"

/* Set by options_check(): lists of the settings, split. */
extern struct texts options_imports;   /* allowed_imports; none: any */
extern struct texts options_url_hosts; /* package_hosts */

/* Call after the settings were read, before the jail.  Replaces 0 by its meaning; fails with the
 * name of a default that exceeds its cap. */
int options_check(struct err *);
