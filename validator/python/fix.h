/* SPDX-License-Identifier: Apache-2.0 */
/* fix.h - auto_fix: code that parses, or nothing. */
#pragma once

#include "validator/python/rules.h"

/*
 * *fixed is the caller's to close; its text is NULL where nothing was mended, and then there are no
 * edits in the report either.
 */
int fix_code(const struct source *, const struct policy *, struct source *fixed, struct report *,
    struct err *);
/* Advice on what is used and not imported. */
void fix_advise(const struct program *, struct report *);
