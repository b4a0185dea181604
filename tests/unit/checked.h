/* SPDX-License-Identifier: Apache-2.0 */
/* checked.h - checks one Python program for a test: returns the report, and the findings in
 * short form. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

struct checked {
	struct validation_report report;
	struct err error;
	int status;
	char found[4096]; /* "1:8 forbidden-import, 2:1 forbidden-call" */
};

/* The first call starts Python with this memory limit; it lives as long as the process. */
void checked_start(uint64_t memory_bytes);
/* profile NULL: the default; imports: separated by blanks, NULL: none given. */
void checked_run(struct checked *, const char *code, size_t size, const char *profile,
    const char *imports, bool auto_fix);
void checked_clear(struct checked *);
