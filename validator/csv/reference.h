/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - values that must be in another column: a column's rule `references`, with the name
 * of a column of the same table, or with another table as CSV and the name of a column of that.
 */
#pragma once

#include "validator/csv/state.h"

#include "common/base/blob.h"

/*
 * After the header: reads the values that each such rule names; whole: the text of the table, which
 * is read a second time for that.  invalid_argument: no such column; limit_exceeded: too many
 * values, or too late.
 */
int reference_begin(struct table *, const struct blob *whole, struct err *);
