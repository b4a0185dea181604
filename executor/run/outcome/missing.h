/* SPDX-License-Identifier: Apache-2.0 */
/* missing.h - the hint for a module that is not installed (diagnosis.c). */
#pragma once

#include "executor/sandbox/box.h"

/* Allocated with malloc; it names an environment that has the module, else install_package if the
 * operator allows packages.  NULL: no memory. */
char *missing_hint(const struct box_end *, bool in_session);
