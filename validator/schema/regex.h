/* SPDX-License-Identifier: Apache-2.0 */
/* regex.h - regular expressions of ECMA-262, by PCRE2. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct regex;

/* schema_invalid: it is not one, or has what PCRE2 cannot do; limit_exceeded: too long. */
struct regex *regex_new(const char *pattern, size_t size, struct err *);
void regex_free(struct regex *);
/* 1: matches somewhere; 0: does not; -1 with limit_exceeded: would take too many steps. */
int regex_match(const struct regex *, const char *text, size_t size, struct err *);
