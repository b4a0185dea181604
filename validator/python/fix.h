/* SPDX-License-Identifier: Apache-2.0 */
/* fix.h - auto_fix: returns code that parses, or nothing. */
#pragma once

#include "validator/python/rules.h"

/*
 * The caller closes *fixed.  If nothing was repaired, its text is NULL and the report has no edits.
 */
int fix_code(const struct source *, const struct policy *, struct source *fixed, struct report *,
    struct err *);
/* Adds advice on names that are used and not imported. */
void fix_advise(const struct program *, struct report *);
