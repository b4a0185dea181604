/* SPDX-License-Identifier: Apache-2.0 */
/* until.h - the end of an approval. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdint.h>

/* Sets *until_ms: for a session, its maximum; for a namespace, the end of the day YYYY-MM-DD in
 * UTC, or of tomorrow if day is NULL; for one run, a day from now.  invalid_argument: not a day,
 * a past one, or one too far in the future. */
int until_read(int duration, const char *day, uint64_t now_ms, uint64_t *until_ms, struct err *);
