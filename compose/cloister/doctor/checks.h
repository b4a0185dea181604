/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - the functions of checks.def.  Each looks at one thing and fills in the diagnosis; it
 * changes nothing. */
#pragma once

#include "compose/cloister/doctor/diagnosis.h"
#include "compose/cloister/doctor/machine.h"

/* clang-format off */
#define CHECK(name, function, ...) void function(const struct machine *, struct diagnosis *);
#include "compose/cloister/doctor/checks.def"
/* clang-format on */
