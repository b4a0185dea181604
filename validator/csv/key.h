/* SPDX-License-Identifier: Apache-2.0 */
/* key.h - values that must be unique together: a column's rule `unique` with the names of others.
 */
#pragma once

#include "validator/csv/state.h"

/* After the header: finds the columns of each key.  invalid_argument: a name that no column has, or
 * too many keys. */
int key_begin(struct table *, struct err *);
/* A cell of a column that has keys. */
int key_add(struct table *, size_t column, const char *data, size_t size, struct err *);
/* After a row: reports each key that an earlier row has.  Rows with an empty cell in a key count
 * as different, as NULL does in SQL. */
int key_check(struct table *, struct err *);
void key_close(struct table *);
