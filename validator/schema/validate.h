/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h - validate_json_data, from the request to the report. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Data that breaks its schema is a success with a report.  Errors: the call is wrong
 * (invalid_argument), the schema is (schema_invalid), its name is unknown (not_found), or the check
 * would take too much (limit_exceeded).  The caller clears *report, also after an error.
 */
int validate_json(const struct validate_json_data *, struct schema_report *, struct err *);
