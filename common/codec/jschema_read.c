/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jschema_read.c - JSON to structs.
 *
 * The input was written by a model and is not trusted. Error texts go back to the model and should
 * let it correct the input.
 */
#include "common/base/auto.h"
#include "common/codec/base64.h"
#include "common/codec/field.h"
#include "common/codec/jschema.h"
#include "common/codec/large.h"
#include "common/codec/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORT_DIGITS = 15,        /* that every double keeps */
	MOST_AS_TEXT = 256 << 10, /* bytes of an argument that is text where JSON is expected */
};

static int read_message(enum msg_id, const json_t *from, bool own, void *msg, struct err *);

static const char *const type_names[] = {
	[JSON_OBJECT] = "an object",
	[JSON_ARRAY] = "an array",
	[JSON_STRING] = "a string",
	[JSON_INTEGER] = "a number",
	[JSON_REAL] = "a number with a fraction",
	[JSON_TRUE] = "true",
	[JSON_FALSE] = "false",
	[JSON_NULL] = "null",
};

static int
read_text(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	const char *text = json_string_value(from);

	if (field_text(f, text, json_string_length(from), e) < 0)
		return -1;
	*(char **)slot = strdup(text);
	return *(char **)slot != NULL ? 0 : err_sys(e, "%s", f->name);
}

static int
read_page(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	const char *text = json_string_value(from);
	size_t size = json_string_length(from);
	struct blob *b = slot;

	if (field_text(f, text, size, e) < 0)
		return -1;
	*b = blob_copy(text, size);
	return b->data != NULL ? 0 : err_sys(e, "%s", f->name);
}

static int
read_blob(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	const char *text = json_string_value(from);
	size_t size = json_string_length(from), got;
	auto_free char *data = NULL;

	/* Too long even if two characters are padding: refused before decoding. */
	if (base64_most(size) > (uint64_t)f->high + 2 && field_bytes(f, base64_most(size), e) < 0)
		return -1;
	if ((data = malloc(base64_most(size) + 1)) == NULL)
		return err_sys(e, "%s", f->name);
	if (base64_read(data, &got, text, size) < 0)
		return err_set(e, ERR_invalid_argument,
		    "%s: not base64 (padding required, no line breaks)", f->name);
	if (field_bytes(f, got, e) < 0)
		return -1;
	data[got] = 0;
	*(struct blob *)slot = (struct blob){ take_ptr(data), got };
	return 0;
}

/* A real that needs more digits; from a client, it has been marked. */
static bool
is_long_real(const json_t *value)
{
	char text[32];
	double real = json_real_value(value), millions = real * 1e6;

	if (!json_is_real(value) || (fabs(millions) < 1e15 && trunc(millions) / 1e6 == real))
		return false;
	snprintf(text, sizeof text, "%.*g", SHORT_DIGITS, real);
	return strtod(text, NULL) != real;
}

static bool
has_long_real(const json_t *value)
{
	const char *key;
	json_t *part;
	size_t i;
	bool found = is_long_real(value);

	json_array_foreach((json_t *)(uintptr_t)value, i, part) found |= has_long_real(part);
	json_object_foreach((json_t *)(uintptr_t)value, key, part) found |= has_long_real(part);
	return found;
}

/* 0.1 must not become 0.10000000000000001, as Jansson writes it. */
static int
read_any(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	size_t precision = has_long_real(from) ? 0 : JSON_REAL_PRECISION(SHORT_DIGITS);
	auto_free char *text = large_dump(from, JSON_COMPACT | JSON_ENCODE_ANY | precision);

	if (text == NULL)
		return err_set(e, ERR_invalid_argument, "%s: nested too deeply", f->name);

	size_t size = strlen(text);

	if (field_bytes(f, size, e) < 0)
		return -1;
	*(struct blob *)slot = (struct blob){ take_ptr(text), size };
	return 0;
}

/* A client whose numbers are doubles may write 5.0 or 5e0 for 5. */
static int
read_whole(const struct field *f, const json_t *from, int64_t *n, struct err *e)
{
	double value = json_real_value(from);

	*n = json_integer_value(from);
	if (json_is_integer(from))
		return field_int(f, *n, e);
	if (field_real(f, value, e) < 0)
		return -1;
	if (value >= 0x1p63 || value != floor(value))
		return err_set(
		    e, ERR_invalid_argument, "%s: %.15g is not an integer", f->name, value);
	*n = (int64_t)value;
	return field_int(f, *n, e);
}

static int
read_int(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	return read_whole(f, from, slot, e);
}

static int
read_real(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	*(double *)slot = json_number_value(from);
	return field_real(f, *(double *)slot, e);
}

static int
read_flag(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	(void)f;
	(void)e;
	*(bool *)slot = json_is_true(from);
	return 0;
}

static int
read_word(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	return field_word(f, json_string_value(from), json_string_length(from), slot, e);
}

static int
read_texts(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	struct texts *texts = slot;
	json_t *item;
	size_t i;

	if (field_items(f, json_array_size(from), e) < 0)
		return -1;
	if ((texts->items = malloc(sizeof *texts->items)) == NULL)
		return err_sys(e, "%s", f->name);
	json_array_foreach(from, i, item)
	{
		const char *text = json_string_value(item);

		if (text == NULL || large_digits(item) != NULL)
			return err_set(e, ERR_invalid_argument,
			    "%s[%zu]: expected a string, got %s", f->name, i,
			    type_names[text == NULL ? json_typeof(item) : JSON_INTEGER]);
		if (field_texts_item(f, i, text, json_string_length(item), e) < 0)
			return -1;
		if (texts_add(texts, text) < 0)
			return err_sys(e, "%s", f->name);
	}
	return 0;
}

static int
read_item(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	void *item = calloc(1, messages[f->of].size);

	if (item == NULL)
		return err_sys(e, "%s", f->name);
	memcpy(slot, &item, sizeof item);
	return read_message(f->of, from, true, item, e) < 0 ? field_within(f, e) : 0;
}

static int
read_list(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	struct list *list = slot;
	json_t *object;
	size_t i;

	if (field_items(f, json_array_size(from), e) < 0)
		return -1;
	if ((list->items = malloc(messages[f->of].size)) == NULL)
		return err_sys(e, "%s", f->name);
	json_array_foreach(from, i, object)
	{
		if (!json_is_object(object))
			return err_set(e, ERR_invalid_argument,
			    "%s[%zu]: expected an object, got %s", f->name, i,
			    type_names[json_typeof(object)]);

		void *item = list_add(list, messages[f->of].size);

		if (item == NULL)
			return err_sys(e, "%s", f->name);
		if (read_message(f->of, object, true, item, e) < 0)
			return field_within_item(f, i, e);
	}
	return 0;
}

static void
auto_json_(json_t **json)
{
	json_decref(*json);
}

/* Models write numbers, arrays and objects as text, and true as Python does.  NULL: that is no
 * JSON. */
static json_t *
from_text(const json_t *text)
{
	const char *s = json_string_value(text);
	size_t size = json_string_length(text);

	if (s == NULL || size > MOST_AS_TEXT)
		return NULL;
	if (strcmp(s, "True") == 0 || strcmp(s, "False") == 0)
		return json_boolean(s[0] == 'T');
	return json_loadb(s, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
}

/* Integers over 64 bits are refused, except by a field for reals; from the rest rounds. */
static int
read_large(const struct field *f, const char *digits, void *slot, struct err *e)
{
	double n = strtod(digits, NULL);
	bool whole = digits[strcspn(digits, ".eE")] == '\0';

	if (f->kind != KIND_REAL && f->kind != KIND_UINT && f->kind != KIND_INT)
		return field_mistyped(f, type_names[JSON_INTEGER], e);
	if (field_real(f, n, e) < 0)
		return -1;
	if (whole && f->kind != KIND_REAL)
		return err_set(
		    e, ERR_invalid_argument, "%s: %.40s is over 64 bits", f->name, digits);
	__attribute__((cleanup(auto_json_))) json_t *nearest = json_real(n);
	return f->kind == KIND_REAL ? read_real(f, nearest, slot, e)
	                            : read_int(f, nearest, slot, e);
}

static int
read_field(const struct field *f, const json_t *from, void *slot, struct err *e)
{
	static const struct {
		unsigned types;
		int (*read)(const struct field *, const json_t *, void *slot, struct err *);
	} kinds[] = {
		[KIND_TEXT] = { 1u << JSON_STRING, read_text },
		[KIND_PAGE] = { 1u << JSON_STRING, read_page },
		[KIND_BLOB] = { 1u << JSON_STRING, read_blob },
		[KIND_ANY] = { ~0u, read_any },
		[KIND_UINT] = { 1u << JSON_INTEGER | 1u << JSON_REAL, read_int },
		[KIND_INT] = { 1u << JSON_INTEGER | 1u << JSON_REAL, read_int },
		[KIND_REAL] = { 1u << JSON_INTEGER | 1u << JSON_REAL, read_real },
		[KIND_FLAG] = { 1u << JSON_TRUE | 1u << JSON_FALSE, read_flag },
		[KIND_WORD] = { 1u << JSON_STRING, read_word },
		[KIND_TEXTS] = { 1u << JSON_ARRAY, read_texts },
		[KIND_ITEM] = { 1u << JSON_OBJECT, read_item },
		[KIND_LIST] = { 1u << JSON_ARRAY, read_list },
	};

	unsigned types = kinds[f->kind].types;
	const char *digits = large_digits(from);

	if (digits != NULL && f->kind != KIND_ANY)
		return read_large(f, digits, slot, e);
	if ((types & 1u << json_typeof(from)) != 0)
		return kinds[f->kind].read(f, from, slot, e);

	__attribute__((cleanup(auto_json_))) json_t *json = from_text(from);

	if (json == NULL || (types & 1u << json_typeof(json)) == 0)
		return field_mistyped(f, type_names[json_typeof(from)], e);
	return kinds[f->kind].read(f, json, slot, e);
}

/* Models write null or "" for what they leave out.  "" is a value where the field may be empty. */
static bool
is_left_out(const struct field *f, const json_t *value)
{
	bool holds_text = f->kind == KIND_TEXT || f->kind == KIND_PAGE || f->kind == KIND_BLOB;

	if (value == NULL || f->needed)
		return value == NULL;
	if (json_is_string(value) && json_string_length(value) == 0)
		return holds_text ? f->low > 0 : f->kind != KIND_ANY;
	return json_is_null(value);
}

/* own: such fields are accepted.  No message in a request of a client has them (.ci/check-defs).
 * Finds the value of each field; NULL if absent.  An unknown key is reported first, because it
 * is often the reason why another key is missing. */
static int
find_values(enum msg_id id, const json_t *from, bool own, const json_t **values, struct err *e)
{
	const struct message *m = &messages[id];

	for (void *at = json_object_iter((json_t *)from); at != NULL;
	     at = json_object_iter_next((json_t *)from, at)) {
		const char *key = json_object_iter_key(at);
		size_t size = json_object_iter_key_len(at);
		const struct field *f = field_find(m, 0, key, size);

		if (f == NULL || (f->own && !own))
			return field_unknown(id, key, size, e);
		values[f - m->fields] = json_object_iter_value(at);
	}
	return 0;
}

static int
read_message(enum msg_id id, const json_t *from, bool own, void *msg, struct err *e)
{
	const struct message *m = &messages[id];
	const json_t *values[WIRE_MAX_FIELDS] = { NULL };

	if (find_values(id, from, own, values, e) < 0)
		return -1;
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		const json_t *value = values[f - m->fields];
		void *slot = (char *)msg + f->offset;

		if (is_left_out(f, value)) {
			if (field_absent(f, slot, e) < 0)
				return -1;
		} else if (read_field(f, value, slot, e) < 0) {
			return -1;
		}
	}
	return 0;
}

static int
read_arguments(enum msg_id id, const json_t *from, bool own, void *msg, struct err *e)
{
	if (!json_is_object(from))
		return err_set(e, ERR_invalid_argument, "arguments: not an object");
	if (read_message(id, from, own, msg, e) == 0)
		return 0;
	message_clear(id, msg);
	return -1;
}

int
jschema_read(enum msg_id id, const json_t *from, void *msg, struct err *e)
{
	return read_arguments(id, from, false, msg, e);
}

int
jschema_read_own(enum msg_id id, const json_t *from, void *msg, struct err *e)
{
	return read_arguments(id, from, true, msg, e);
}
