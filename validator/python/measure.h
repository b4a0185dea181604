/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - how large and how branched a program is. */
#pragma once

#include "validator/python/rules.h"

/* Measures the text only, for code that does not parse. */
int measure_text(const struct source *, struct analysis *, struct err *);
/* Measures the program as well. */
int measure_program(const struct program *, struct analysis *, struct err *);
