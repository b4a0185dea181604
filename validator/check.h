/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - validate_code, from the request to the report. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Code that breaks rules or does not parse is a success with a report.  Errors: the call is wrong
 * (invalid_argument), the code is too large (code_too_large) or too deeply nested (limit_exceeded),
 * or the language is unknown (runtime_missing).  The caller clears *report, also after an error.
 */
int check_code(
    const struct validate_code *, uint64_t max_bytes, struct validation_report *, struct err *);
