/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - validate_code, from the request to the report. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * A report on code that breaks rules, or does not parse, is a success.  An error: the call itself
 * is wrong (invalid_argument), the code too large (code_too_large) or too deep (limit_exceeded), or
 * its language unknown here (runtime_missing).  *report is the caller's to clear, also then.
 */
int check_code(
    const struct validate_code *, uint64_t max_bytes, struct validation_report *, struct err *);
