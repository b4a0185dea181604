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

/* The number in text, of these numerals, as value_read() takes it. False: it is none. */
bool value_plain(const struct numerals *, const char *text, char plain[VALUE_MAX]);
/*
 * Is the text, without surrounding blanks, of the type? formats: of a date or datetime; none: ISO
 * 8601. *number: what min and max compare; unchanged for types without an order.
 */
bool value_read(
    enum value_type, const char *text, const struct texts *formats, long double *number);
