/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - checks a cell by the rule of its column. */
#pragma once

#include "validator/csv/state.h"

/* Reports what is wrong with it; -1 only if the check cannot go on. */
int cell_check(struct table *, struct table_column *, const char *data, size_t size, struct err *);
