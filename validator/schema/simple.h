/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simple.h - the beginning of a pattern, as far as it is a row of characters and classes: it
 * decides most matches without PCRE2, whose start alone costs more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SIMPLE_PARTS = 12,
};

struct simple_part {
	uint64_t set[2]; /* of ASCII */
	bool wide;       /* and all other characters */
	bool any;        /* but for the ends of lines: written as a dot */
	bool optional, repeats;
};

struct simple {
	struct simple_part parts[SIMPLE_PARTS];
	uint8_t count;
	bool anchored; /* begins with ^ */
	bool ends;     /* the text must end behind the parts */
	bool whole;    /* the parts are the whole pattern */
};

/* Reads a pattern that PCRE2 has accepted. */
struct simple simple_read(const char *pattern, size_t size);
/* 1 or 0: it matches or not; -1: this cannot be said here. */
int simple_match(const struct simple *, const char *text, size_t size);
