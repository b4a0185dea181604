/* SPDX-License-Identifier: Apache-2.0 */
/* dialect.h - which delimiter a text uses, and where its table begins. */
#pragma once

#include "validator/csv/scan.h"

enum {
	DIALECT_SAMPLE = 64 << 10, /* bytes that decide */
};

struct dialect {
	char delimiter;
	uint64_t title, header; /* lines that seem to be these, if a title precedes; else 0 */
};

/* The delimiter is that of *how; if that is zero, the one of comma, semicolon, tab and pipe that
 * splits the lines at the start of this text most evenly; comma if none does. */
struct dialect dialect_detect(const struct scan *how, const char *text, size_t size);
/* Is the first line Excel's `sep=;`, which names the delimiter and is no row? Its bytes without the
 * end of the line, and *delimiter; 0: it is not. */
size_t dialect_declared(const char *text, size_t size, char *delimiter);
