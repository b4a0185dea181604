/* SPDX-License-Identifier: Apache-2.0 */
/* column.c - statistics in constant memory for each column; trusts nothing. */
#include "validator/csv/column.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Texts that programs write for "no value"; inference ignores them as it does empty cells. */
static const char *const nulls[] = { "NA", "N/A", "null", "NULL", "None", "NaN", "nan" };

static const struct texts iso = { 0 };

void
column_begin(struct column *c)
{
	*c = (struct column){ .types = (1U << VALUE_COUNT) - 1, .min_length = UINT64_MAX };
}

void
column_skip(struct column *c)
{
	c->nulls++;
}

static bool
is_null(const char *data, size_t size)
{
	for (size_t i = 0; size > 0 && size <= 4 && (*data | ' ') == 'n' && i < COUNT(nulls); i++)
		if (strlen(nulls[i]) == size && memcmp(nulls[i], data, size) == 0)
			return true;
	return size == 0;
}

static void
keep(struct column_text *text, const char *data, size_t size)
{
	text->size = size <= COLUMN_SHOWN ? size : utf8_whole(data, COLUMN_SHOWN);
	memcpy(text->bytes, data, text->size);
	text->head = value_head(data, size);
}

/* first: the first eight bytes of data. */
static int
compare(const struct column_text *text, uint64_t first, const char *data, size_t size)
{
	if (first != text->head)
		return first < text->head ? -1 : 1;
	size_t common = size < text->size ? size : text->size;
	int order = memcmp(data, text->bytes, common);

	return order != 0 ? order : (size > text->size) - (size < text->size);
}

static void
add_number(struct column *c, long double number, const char *data, size_t size)
{
	if (c->count == 0 || number < c->min) {
		c->min = number;
		keep(&c->lowest, data, size);
	}
	if (c->count == 0 || number > c->max) {
		c->max = number;
		keep(&c->highest, data, size);
	}
	c->sum += number;
}

/* 00123 is the code of something and no number: read as one, it loses its zeros. */
static bool
is_code(const char *text)
{
	text += *text == '-' || *text == '+';
	return text[0] == '0' && isdigit((unsigned char)text[1]);
}

/* Is it a short number? Then what it says of the type is clear. */
static bool
infer_quickly(struct column *c, const char *data, size_t size)
{
	const unsigned is_int = 1U << VALUE_int, is_float = 1U << VALUE_float;
	struct value_number number;

	if (c->numerals != NULL || (c->types & (is_int | is_float)) == 0 ||
	    !value_short(data, size, &number) || (number.is_code && !c->is_number))
		return false;
	c->types &= (number.is_int ? is_int | is_float : is_float) | 1U << VALUE_string;
	if ((c->types & (is_int | is_float)) != 0)
		add_number(c, number.value, data, size);
	return true;
}

/* A number without what groups its digits; other text as it is. */
static const char *
unify(struct column *c, const char *text, char plain[VALUE_MAX])
{
	if (c->numerals == NULL)
		return text;
	if (value_plain(c->numerals, text, plain))
		return plain;
	c->types &= ~(1U << VALUE_int | 1U << VALUE_float);
	return text;
}

/* Drops the types that do not fit. The first that fits and is ordered gives the number. */
static void
infer(struct column *c, const char *data, size_t size)
{
	char text[VALUE_MAX], room[VALUE_MAX];
	long double number;
	bool known = false;

	if (size >= sizeof text) {
		c->types = 1U << VALUE_string;
		return;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	const char *plain = unify(c, text, room);
	if (!c->is_number && is_code(plain))
		c->types &= ~(1U << VALUE_int | 1U << VALUE_float);
	for (unsigned type = 0; type < VALUE_string; type++) {
		if ((c->types & 1U << type) == 0)
			continue;
		/* 0 and 1 are numbers, and so is a word of one letter text. */
		const char *read = type <= VALUE_float ? plain : text;
		bool fits =
		    (type != VALUE_bool || size > 1) && value_read(type, read, &iso, &number);
		if (!fits)
			c->types &= ~(1U << type);
		else if (!known && value_is_ordered(type)) {
			known = true;
			add_number(c, number, data, size);
		}
	}
}

static void
count_distinct(struct column *c, struct distinct_budget *budget, const char *data, size_t size)
{
	uint64_t first;

	if (c->seen.count >= COLUMN_DISTINCT || c->more)
		return;
	if (distinct_add(&c->seen, budget, data, size, 0, &first) == DISTINCT_FULL)
		c->more = true;
}

static void
add_text(struct column *c, const char *data, size_t size)
{
	uint64_t first = value_head(data, size);

	if (c->count == 0 || compare(&c->least, first, data, size) < 0)
		keep(&c->least, data, size);
	if (c->count == 0 || compare(&c->greatest, first, data, size) > 0)
		keep(&c->greatest, data, size);
}

void
column_add(struct column *c, struct distinct_budget *budget, const char *data, size_t size)
{
	uint64_t length;

	if (is_null(data, size)) {
		c->nulls++;
		return;
	}
	if (c->types != 1U << VALUE_string && !infer_quickly(c, data, size))
		infer(c, data, size);
	length = value_length(data, size);
	if (length < c->min_length)
		c->min_length = length;
	if (length > c->max_length)
		c->max_length = length;
	add_text(c, data, size);
	c->count++;
	count_distinct(c, budget, data, size);
}

static enum value_type
type_of(const struct column *c)
{
	unsigned type = 0;

	while (c->count > 0 && type < VALUE_string && (c->types & 1U << type) == 0)
		type++;
	return c->count > 0 ? (enum value_type)type : VALUE_string;
}

int
column_report(const struct column *c, struct csv_column *out, struct err *e)
{
	enum value_type type = type_of(c);
	char mean[64];
	bool numeric = type == VALUE_int || type == VALUE_float;
	bool ordered = value_is_ordered(type);
	const struct column_text *low = ordered ? &c->lowest : &c->least;
	const struct column_text *high = ordered ? &c->highest : &c->greatest;

	out->type = strdup(value_name(type));
	out->count = c->count;
	out->null_count = c->nulls;
	out->unique_count = c->seen.count;
	out->unique_exact = !c->more && c->seen.count < COLUMN_DISTINCT;
	if (c->count > 0) {
		out->min = strndup(low->bytes, low->size);
		out->max = strndup(high->bytes, high->size);
		out->min_length = c->min_length;
		out->max_length = c->max_length;
	}
	if (numeric) {
		snprintf(mean, sizeof mean, "%.15Lg", c->sum / (long double)c->count);
		out->mean = strdup(mean);
	}
	if (out->type == NULL || (c->count > 0 && (out->min == NULL || out->max == NULL)) ||
	    (numeric && out->mean == NULL))
		return err_sys(e, "report a column");
	return 0;
}

void
column_close(struct column *c)
{
	distinct_close(&c->seen);
}
