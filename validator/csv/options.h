/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the characters that a caller says have a meaning in a table. */
#pragma once

#include "validator/csv/state.h"

/* Into *t; delimiter is zero if none was given. invalid_argument names the argument. */
int options_read(struct table *t, struct err *);
/* A parser of the table's dialect, without callbacks. */
struct scan options_scan(const struct table *);
