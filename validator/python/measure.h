/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - how large and how branched a program is. */
#pragma once

#include "validator/python/rules.h"

/* Of the text alone, for code that does not parse. */
int measure_text(const struct source *, struct analysis *, struct err *);
/* Of the program too. */
int measure_program(const struct program *, struct analysis *, struct err *);
