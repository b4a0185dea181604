/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.c - the checks that all codecs share.
 *
 * Values come from peers and clients and are not trusted. Quotes from them are shortened, and
 * err_set() makes them printable.
 */
#include "common/codec/field.h"

#include "common/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	QUOTE = 48,          /* bytes of a peer's text that an error quotes */
	NAME_MAX_BYTES = 48, /* of a name that may be near another */
};

bool
field_is_number(const struct field *f)
{
	return f->kind >= KIND_UINT && f->kind <= KIND_WORD;
}

bool
field_given(const struct field *f, const void *slot)
{
	const struct list *list = slot;

	if (field_is_number(f))
		return true;
	if (f->kind == KIND_TEXTS || f->kind == KIND_LIST)
		return f->needed || list->items != NULL;
	return item_of(slot) != NULL;
}

int
field_absent(const struct field *f, void *slot, struct err *e)
{
	if (f->needed)
		return err_set(e, ERR_invalid_argument, "%s: missing", f->name);
	if (f->kind == KIND_UINT || f->kind == KIND_INT)
		*(int64_t *)slot = f->fallback;
	if (f->kind == KIND_REAL)
		*(double *)slot = (double)f->fallback;
	if (f->kind == KIND_FLAG)
		*(bool *)slot = f->fallback != 0;
	if (f->kind == KIND_WORD)
		*(int *)slot = (int)f->fallback;
	return 0;
}

enum side {
	OVER,
	UNDER,
};

/* value: "7200 is", "3 items are". */
static int
outside(const struct field *f, enum side side, const char *value, struct err *e)
{
	if (side == OVER)
		return err_set(e, ERR_limit_exceeded, "%s: %s over the limit of %" PRId64, f->name,
		    value, f->high);
	return err_set(e, ERR_invalid_argument, "%s: %s under the minimum of %" PRId64, f->name,
	    value, f->low);
}

int
field_uint(const struct field *f, uint64_t n, struct err *e)
{
	char value[32];

	if ((uint64_t)f->low <= n && n <= (uint64_t)f->high)
		return 0;
	snprintf(value, sizeof value, "%" PRIu64 " is", n);
	return outside(f, n > (uint64_t)f->high ? OVER : UNDER, value, e);
}

int
field_int(const struct field *f, int64_t n, struct err *e)
{
	char value[32];

	if (f->low <= n && n <= f->high)
		return 0;
	snprintf(value, sizeof value, "%" PRId64 " is", n);
	return outside(f, n > f->high ? OVER : UNDER, value, e);
}

int
field_real(const struct field *f, double n, struct err *e)
{
	char value[40];

	if ((double)f->low <= n && n <= (double)f->high)
		return 0;
	if (!isfinite(n))
		return err_set(e, ERR_invalid_argument, "%s: not a finite number", f->name);
	snprintf(value, sizeof value, "%.15g is", n);
	return outside(f, n > (double)f->high ? OVER : UNDER, value, e);
}

static int
amount(const struct field *f, size_t n, const char *of, struct err *e)
{
	char value[48];

	if ((uint64_t)f->low <= n && n <= (uint64_t)f->high)
		return 0;
	snprintf(value, sizeof value, n == 1 ? "%zu %s is" : "%zu %ss are", n, of);
	return outside(f, n > (uint64_t)f->high ? OVER : UNDER, value, e);
}

int
field_bytes(const struct field *f, size_t size, struct err *e)
{
	return amount(f, size, "byte", e);
}

int
field_items(const struct field *f, size_t count, struct err *e)
{
	return amount(f, count, "item", e);
}

int
field_page(const struct field *f, const char *text, size_t size, struct err *e)
{
	if (field_bytes(f, size, e) < 0)
		return -1;
	return utf8_valid(text, size) ? 0
	                              : err_set(e, ERR_invalid_argument, "%s: not UTF-8", f->name);
}

/* A zero byte would hide what follows it from every later check. */
int
field_text(const struct field *f, const char *text, size_t size, struct err *e)
{
	if (field_bytes(f, size, e) == 0 && size > 0 && memchr(text, 0, size) != NULL)
		return err_set(e, ERR_invalid_argument, "%s: has a zero byte", f->name);
	return field_page(f, text, size, e);
}

int
field_texts_item(const struct field *f, size_t i, const char *text, size_t size, struct err *e)
{
	struct field item = { .name = f->name, .high = FIELD_TEXTS_ITEM };
	char name[96];

	if (field_text(&item, text, size, e) == 0)
		return 0;
	snprintf(name, sizeof name, "%s[%zu]", f->name, i);
	item.name = name;
	return field_text(&item, text, size, e);
}

/* Appends to a list of names. If a name does not fit, "..." replaces it. */
static void
name_add(char *names, size_t size, const char *name)
{
	static const char more[] = ", ...";
	size_t used = strlen(names);

	if (used + strlen(name) + sizeof ", " + sizeof more <= size)
		snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "", name);
	else if (used < sizeof more || strcmp(names + used - sizeof more + 1, more) != 0)
		snprintf(names + used, size - used, "%s", more);
}

int
field_word(const struct field *f, const char *text, size_t size, int *word, struct err *e)
{
	char known[128] = "";

	*word = word_parse(f->set, text, size);
	if (*word >= 0)
		return 0;
	for (int w = 0; word_text(f->set, w) != NULL; w++)
		name_add(known, sizeof known, word_text(f->set, w));
	return err_set(e, ERR_invalid_argument, "%s: '%.*s' is not one of %s", f->name,
	    (int)(size < QUOTE ? size : QUOTE), text, known);
}

/* Prepends a prefix; a text that becomes too long is cut off at its end. */
static int
prefix(struct err *e, const char *front)
{
	size_t n = strlen(front);

	memmove(e->text + n, e->text, sizeof e->text - n);
	memcpy(e->text, front, n);
	e->text[sizeof e->text - 1] = 0;
	utf8_tame(e->text);
	return -1;
}

int
field_within(const struct field *f, struct err *e)
{
	char front[96];

	snprintf(front, sizeof front, "%s.", f->name);
	return prefix(e, front);
}

int
field_within_item(const struct field *f, size_t i, struct err *e)
{
	char front[96];

	snprintf(front, sizeof front, "%s[%zu].", f->name, i);
	return prefix(e, front);
}

const struct field *
field_find(const struct message *m, size_t next, const char *name, size_t size)
{
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[(next + i) % m->nfields];

		if (f->name_size == size && memcmp(f->name, name, size) == 0)
			return f;
	}
	return NULL;
}

/* Number of letters to change, insert or delete; names are short, longer keys are like none. */
static size_t
distance(const char *name, const char *key, size_t size)
{
	size_t row[NAME_MAX_BYTES + 1], n = strlen(name);

	if (n > NAME_MAX_BYTES || size > NAME_MAX_BYTES)
		return SIZE_MAX;
	for (size_t i = 0; i <= n; i++)
		row[i] = i;
	for (size_t k = 0; k < size; k++) {
		size_t corner = row[0];

		row[0] = k + 1;
		for (size_t i = 1; i <= n; i++) {
			size_t least = corner + (name[i - 1] != key[k]);

			corner = row[i];
			least = row[i - 1] + 1 < least ? row[i - 1] + 1 : least;
			row[i] = corner + 1 < least ? corner + 1 : least;
		}
	}
	return row[n];
}

/* The name that begins like the key, or else differs in at most a third of its letters; NULL: none
 * is near. */
static const char *
nearest(const struct message *m, const char *key, size_t size)
{
	const char *found = NULL;
	size_t least = SIZE_MAX;

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		size_t shorter = f->name_size < size ? f->name_size : size;
		bool begins = shorter >= 3 && memcmp(f->name, key, shorter) == 0;
		size_t far = begins ? 1 : distance(f->name, key, size);

		if (f->own || far >= least || far > (size > 3 ? size / 3 : 1))
			continue;
		least = far;
		found = f->name;
	}
	return found;
}

int
field_unknown(enum msg_id id, const char *key, size_t size, struct err *e)
{
	const struct message *m = &messages[id];
	const char *near = nearest(m, key, size);
	char known[160] = "";

	if (near != NULL)
		return err_set(e, ERR_invalid_argument, "%.*s: unknown argument; the nearest is %s",
		    (int)(size < QUOTE ? size : QUOTE), key, near);

	for (size_t i = 0; i < m->nfields; i++)
		if (!m->fields[i].own)
			name_add(known, sizeof known, m->fields[i].name);
	return err_set(e, ERR_invalid_argument, "%.*s: unknown argument; known: %s",
	    (int)(size < QUOTE ? size : QUOTE), key, known);
}

int
field_mistyped(const struct field *f, const char *came, struct err *e)
{
	static const char *const needed[] = {
		[KIND_TEXT] = "a string",
		[KIND_PAGE] = "a string",
		[KIND_BLOB] = "bytes",
		[KIND_ANY] = "a value",
		[KIND_UINT] = "an integer",
		[KIND_INT] = "an integer",
		[KIND_REAL] = "a number",
		[KIND_FLAG] = "true or false",
		[KIND_WORD] = "a word",
		[KIND_TEXTS] = "an array of strings",
		[KIND_ITEM] = "an object",
		[KIND_LIST] = "an array of objects",
	};

	return err_set(
	    e, ERR_invalid_argument, "%s: expected %s, got %s", f->name, needed[f->kind], came);
}
