/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - the types of cells. */
#pragma once

#include "common/table/schema.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	VALUE_MAX = 512, /* bytes of a cell of any type but string */
};

/* Their order is that of inference: the first that fits all cells of a column. */
enum value_type {
#define TYPE(name, ...) VALUE_##name,
#include "validator/csv/types.def"
	VALUE_COUNT
};

const char *value_name(enum value_type);
/* What a cell of this type looks like, for messages. */
const char *value_expected(enum value_type);
/* Also accepts aliases; -1: unknown. */
int value_parse(const char *name);
/* The names of all types, separated by commas. */
const char *value_names(void);
/* Do cells of this type have an order other than that of text? */
bool value_is_ordered(enum value_type);

/* How numbers are written. thousands zero: not in groups. */
struct numerals {
	char decimal, thousands;
};

/* The first eight bytes, so that their order is that of the text; zeros fill it up. */
uint64_t value_head(const char *data, size_t size);
/* Characters of UTF-8. */
uint64_t value_length(const char *data, size_t size);

struct value_number {
	bool is_int, is_code; /* is_code: with leading zeros */
	long double value;
};

/* A short number of digits and a point at most, as in -12 or 3.50, read as value_read() does; by
 * far most numbers are. False: it may still be one. */
bool value_short(const char *data, size_t size, struct value_number *);
/* The number in text, of these numerals, as value_read() takes it. False: it is none. */
bool value_plain(const struct numerals *, const char *text, char plain[VALUE_MAX]);
/*
 * Is the text, without surrounding blanks, of the type? formats: of a date or datetime; none: ISO
 * 8601. *number: what min and max compare; unchanged for types without an order.
 */
bool value_read(
    enum value_type, const char *text, const struct texts *formats, long double *number);
