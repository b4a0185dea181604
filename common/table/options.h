/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the settings of one daemon: its options.def as a struct and as the table that fills
 * it. Included by the options.h of that daemon, which defines OPTIONS as the path of its
 * options.def.
 */
#pragma once

#include "common/table/settings.h"

/* clang-format off */
struct options {
#define SETTING(name, kind, ...) C_##kind name;
#include OPTIONS
};
/* clang-format on */

extern struct options options;
extern const struct setting options_table[];
