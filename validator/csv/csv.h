/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - validate_csv_data, from the request to the report. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Data that breaks its constraints is a success with a report. invalid_argument: the call is wrong;
 * limit_exceeded: a cell, a row or the check is over its limit. May change the request.
 */
int csv_check(struct validate_csv_data *, struct csv_report *, struct err *);
