/* SPDX-License-Identifier: Apache-2.0 */
/* width.h - rows whose number of cells is not that of the header. */
#pragma once

#include "validator/csv/state.h"

/* The current row has so many cells. Counts an error; lists it unless one like it is listed. */
void width_report(struct table *, size_t cells);
/* After the last row: says in each listed error how many rows it stands for. */
void width_finish(struct table *);
