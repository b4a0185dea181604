/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - checks a table. */
#pragma once

#include "validator/csv/state.h"

/* Reads all of the text. */
int table_check(struct table *, const struct blob *text, struct err *);
