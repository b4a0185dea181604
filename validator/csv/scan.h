/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - a streaming parser of CSV: RFC 4180, and what programs write in its place.
 *
 * Text may arrive in pieces of any size; memory is bounded by one cell. A line ends with LF, CR or
 * CRLF. A blank line is no row. A quote begins a quoted cell only at its start, and a doubled quote
 * within is one quote; elsewhere a quote is a character, as Python's csv reads it. The character
 * after an escape stands for itself. A line that begins with the comment character is no row.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCAN_MAX_CELL = 1 << 20, /* bytes */
	SCAN_MAX_CELLS = 8192,   /* of a row */
};

struct scan_cell {
	const char *text; /* valid during the call; not terminated */
	size_t size;
	size_t index;  /* from 0 */
	uint64_t line; /* where it begins, from 1 */
	bool quoted;
	bool stray;    /* text follows its closing quote */
	bool unclosed; /* the text ended within its quotes */
};

struct scan {
	/* Set by the caller. quote, escape, comment 0: there is none. */
	char delimiter, quote, escape, comment;
	int (*cell)(void *self, const struct scan_cell *, struct err *);
	int (*row)(void *self, size_t cells, uint64_t line, struct err *);
	void *self;
	uint64_t lines; /* that precede the text; then those that were read */
	/* Private; zeroed at the start. */
	enum scan_state {
		SCAN_START,
		SCAN_PLAIN,
		SCAN_QUOTED,
		SCAN_CLOSING,
		SCAN_ESCAPED,
		SCAN_COMMENT,
	} state,
	    resume;
	bool begun, after_cr;
	struct scan_cell now;
	uint64_t row_line;
	bool ready, stops[256]; /* stops: what ends plain text */
	char *buffer;
	size_t used, room;
};

/* limit_exceeded: a cell or a row is too long; and the errors of the callbacks. */
int scan_feed(struct scan *, const char *text, size_t size, struct err *);
/* After the last piece. */
int scan_finish(struct scan *, struct err *);
void scan_close(struct scan *);
