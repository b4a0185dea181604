/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - approvald's settings: options.def as a struct and as the table that fills it. */
#pragma once

#include "common/table/settings.h"

/* clang-format off */
struct options {
#define SETTING(name, kind, ...) C_##kind name;
#include "executor/approvald/options.def"
};
/* clang-format on */

extern struct options options;
extern const struct setting options_table[];
