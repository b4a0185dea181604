/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - secretd's settings; see options.def. */
#pragma once

#include "common/table/settings.h"

/* clang-format off */
struct options {
#define SETTING(name, kind, ...) C_##kind name;
#include "executor/secretd/options.def"
};
/* clang-format on */

extern struct options options;
extern const struct setting options_table[];
