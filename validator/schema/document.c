/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.c - reads JSON, and keeps what Jansson would round.
 *
 * Trusts no text. common/codec/large.c marks such numbers; here each becomes a real of at least
 * 2 ** 1023, whose fraction is a place in a table. No other real is so large, because that is a
 * number to mark; if one were, it would be taken for another number at worst.
 */
#include "validator/schema/document.h"

#include "common/base/auto.h"
#include "common/codec/large.h"

#include <math.h>
#include <string.h>

enum {
	MAX_PARTS = 300000,
};

#define LEAST    0x1p1023
#define FRACTION ((1ULL << 52) - 1)

struct document_number {
	struct document_exact exact;
	size_t place;
	struct document_number *next; /* of the document */
};

/* The free places are a list. */
static struct {
	struct place {
		const struct document_number *number; /* NULL: free */
		size_t next;
	} * places;
	size_t room, free;
} table;

static void
grow(void)
{
	size_t room = table.room > 0 ? 2 * table.room : 64;

	table.places = realloc(table.places, room * sizeof *table.places);
	must(table.places != NULL);
	for (; table.room < room; table.room++)
		table.places[table.room] = (struct place){ NULL, table.room + 1 };
}

static double
stand_in(size_t place, bool negative)
{
	double real = LEAST;
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	bits |= place;
	memcpy(&real, &bits, sizeof real);
	return negative ? -real : real;
}

const struct document_exact *
document_exact(const json_t *value)
{
	double real = json_real_value(value);
	uint64_t bits;

	if (fabs(real) < LEAST)
		return NULL;
	memcpy(&bits, &real, sizeof bits);
	bits &= FRACTION;
	if (bits >= table.room || table.places[bits].number == NULL)
		return NULL;
	return &table.places[bits].number->exact;
}

/* ---- reading ---- */

static int
refuse(const struct decimal *d, struct err *e)
{
	if (d->count > DECIMAL_MOST_DIGITS)
		return err_set(e, ERR_limit_exceeded,
		    "a number of %zu digits is over the limit; write at most %d", d->count,
		    DECIMAL_MOST_DIGITS);
	return err_set(e, ERR_limit_exceeded,
	    "a number with an exponent beyond %d, which is the limit; write a smaller one",
	    DECIMAL_MOST_EXPONENT);
}

/* The real for a number; NULL with *e. */
static json_t *
keep(struct document *document, const char *digits, struct err *e)
{
	struct document_number *number = arena_take(&document->digits, sizeof *number);
	size_t size = strlen(digits);
	char *text = arena_text(&document->digits, digits, size);

	number->exact.text = text;
	number->exact.size = size;
	must(decimal_read(&number->exact.decimal, text, size));
	if (!decimal_is_bounded(&number->exact.decimal)) {
		refuse(&number->exact.decimal, e);
		return NULL;
	}
	if (table.free == table.room)
		grow();
	number->place = table.free;
	table.free = table.places[number->place].next;
	table.places[number->place].number = number;
	number->next = document->numbers;
	document->numbers = number;
	json_t *real = json_real(stand_in(number->place, number->exact.decimal.negative));
	must(real != NULL);
	return real;
}

static int settle_parts(struct document *, json_t *value, struct err *);

/* *settled: what takes the place of the value, if its type is not right; otherwise NULL. */
static int
settle(struct document *document, json_t *value, json_t **settled, struct err *e)
{
	const char *digits = large_digits(value);

	*settled = NULL;
	if (digits == NULL)
		return settle_parts(document, value, e);
	*settled = keep(document, digits, e);
	return *settled != NULL ? 0 : -1;
}

static int
settle_parts(struct document *document, json_t *value, struct err *e)
{
	json_t *part, *settled;
	const char *key;
	size_t i;

	json_array_foreach(value, i, part)
	{
		if (settle(document, part, &settled, e) < 0)
			return -1;
		if (settled != NULL)
			json_array_set_new(value, i, settled);
	}
	json_object_foreach(value, key, part)
	{
		if (settle(document, part, &settled, e) < 0)
			return -1;
		if (settled != NULL)
			json_object_iter_set_new(value, json_object_key_to_iter(key), settled);
	}
	return 0;
}

static int
settle_all(struct document *document, struct err *e)
{
	json_t *settled;

	if (settle(document, document->value, &settled, e) < 0)
		return -1;
	if (settled != NULL) {
		json_decref(document->value);
		document->value = settled;
	}
	return 0;
}

static int
parse(struct document *document, const char *data, size_t size, struct err *e)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
	size_t made = size;
	auto_free char *hidden = large_hide(data, size, LARGE_ALL, &made);
	json_error_t error;

	document->value = json_loadb(hidden != NULL ? hidden : data, made, flags, &error);
	if (document->value != NULL)
		return hidden != NULL ? settle_all(document, e) : 0;
	if (hidden != NULL) {
		auto_free char *cut = large_cut(data, size, LARGE_ALL);

		document->value = json_loadb(cut, size, flags, &error);
	}
	return err_set(e, ERR_invalid_argument, "line %d, column %d: %s", error.line, error.column,
	    error.text);
}

/* Each takes Jansson a hundred times the bytes of its text. */
static bool
has_too_many_parts(const char *text, size_t size)
{
	size_t parts = 0;
	bool quoted = false;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			quoted = !quoted;
		else if (text[i] == '\\')
			i++;
		else
			parts += !quoted && (text[i] == '[' || text[i] == '{');
	}
	return parts > MAX_PARTS;
}

int
document_read(
    struct document *document, const char *name, const void *data, size_t size, struct err *e)
{
	*document = (struct document){ 0 };
	if (has_too_many_parts(data, size))
		return err_set(e, ERR_limit_exceeded,
		    "%s: more than %d arrays and objects; send less", name, MAX_PARTS);
	if (parse(document, data, size, e) == 0)
		return 0;
	document_free(document);
	return err_add(e, "%s", name);
}

void
document_free(struct document *document)
{
	for (struct document_number *n = document->numbers; n != NULL; n = n->next) {
		table.places[n->place] = (struct place){ NULL, table.free };
		table.free = n->place;
	}
	json_decref(document->value);
	arena_free(&document->digits);
	*document = (struct document){ 0 };
}
