/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - validate_csv_data, from the request to the report. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Data that breaks its constraints is a success with a report. invalid_argument: the call is wrong;
 * limit_exceeded: a cell, a row or the check is over its limit.
 */
int csv_check(const struct validate_csv_data *, struct csv_report *, struct err *);
/* The same for these bytes in place of those of the request.  They are only read, and UTF-8 is not
 * copied, so they may be a mapped file of any size. */
int csv_check_bytes(
    const struct validate_csv_data *, const struct blob *bytes, struct csv_report *, struct err *);
