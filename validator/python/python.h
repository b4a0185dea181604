/* SPDX-License-Identifier: Apache-2.0 */
/* python.h - checks Python. */
#pragma once

#include "validator/report.h"
#include "validator/source.h"

/* Before the jail; see interp.h. memory_bytes limits the memory of parsing. */
int python_open(uint64_t memory_bytes, struct err *);

int python_check(
    const struct source *, const struct policy *, bool auto_fix, struct report *, struct err *);
