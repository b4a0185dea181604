/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jschema_write.c - structs to JSON.
 *
 * The data comes from a hostile guest through daemons that may be compromised. It may be long,
 * deeply nested or not text.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/base64.h"
#include "common/codec/field.h"
#include "common/codec/jschema.h"

#include <string.h>

/* Decoders refuse invalid UTF-8, but this data may not have passed through a decoder. */
static json_t *
string_of(const void *text, size_t size)
{
	if (utf8_valid(text, size))
		return json_stringn_nocheck(text, size);

	struct blob mended = utf8_mend(text, size);
	json_t *string =
	    mended.data != NULL ? json_stringn_nocheck(mended.data, mended.size) : NULL;

	blob_clear(&mended);
	return string;
}

static json_t *
write_text(const struct field *f, const void *slot)
{
	const char *text = *(char *const *)slot;

	(void)f;
	return string_of(text, strlen(text));
}

static json_t *
write_page(const struct field *f, const void *slot)
{
	const struct blob *b = slot;

	(void)f;
	return string_of(b->data, b->size);
}

static json_t *
write_blob(const struct field *f, const void *slot)
{
	const struct blob *b = slot;
	auto_free char *text = malloc(base64_room(b->size));

	(void)f;
	if (text == NULL)
		return NULL;
	return json_stringn_nocheck(text, base64_write(text, b->data, b->size));
}

/*
 * Is it cheap to parse?  A parsed [] takes a hundred times its two bytes, and a client's parser
 * may not support a depth that ours does.  Jansson would take a zero byte for the end.
 */
static bool
modest(const struct blob *b)
{
	size_t depth = 0, nested = 0;
	bool quoted = false;

	if (memchr(b->data, 0, b->size) != NULL)
		return false;
	for (const char *c = b->data, *end = c + b->size; c < end; c++) {
		if (quoted && *c == '\\') {
			c++;
		} else if (*c == '"') {
			quoted = !quoted;
		} else if (!quoted) {
			bool opens = *c == '[' || *c == '{', closes = *c == ']' || *c == '}';

			depth += opens;
			nested += opens;
			if (depth > JSCHEMA_ANY_DEPTH || nested > JSCHEMA_ANY_NESTED ||
			    (closes && depth-- == 0))
				return false;
		}
	}
	return true;
}

/* A duplicate key would lose a value, so such text is also written as a string. */
static json_t *
write_any(const struct field *f, const void *slot)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
	const struct blob *b = slot;
	json_t *value = modest(b) ? json_loadb(b->data, b->size, flags, NULL) : NULL;

	(void)f;
	return value != NULL ? value : string_of(b->data, b->size);
}

static json_t *
write_uint(const struct field *f, const void *slot)
{
	(void)f;
	return json_integer((json_int_t) * (const uint64_t *)slot);
}

static json_t *
write_int(const struct field *f, const void *slot)
{
	(void)f;
	return json_integer(*(const int64_t *)slot);
}

static json_t *
write_real(const struct field *f, const void *slot)
{
	(void)f;
	return json_real(*(const double *)slot);
}

static json_t *
write_flag(const struct field *f, const void *slot)
{
	(void)f;
	return json_boolean(*(const bool *)slot);
}

static json_t *
write_word(const struct field *f, const void *slot)
{
	return json_string(word_text(f->set, *(const int *)slot));
}

static json_t *
write_texts(const struct field *f, const void *slot)
{
	const struct texts *t = slot;
	json_t *array = json_array();

	(void)f;
	for (size_t i = 0; i < t->count; i++)
		if (json_array_append_new(array, string_of(t->items[i], strlen(t->items[i]))) < 0)
			return json_decref(array), NULL;
	return array;
}

static json_t *
write_item(const struct field *f, const void *slot)
{
	return jschema_write(f->of, item_of(slot));
}

static json_t *
write_list(const struct field *f, const void *slot)
{
	const struct list *list = slot;
	size_t size = messages[f->of].size;
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		if (json_array_append_new(
			array, jschema_write(f->of, (char *)list->items + i * size)) < 0)
			return json_decref(array), NULL;
	return array;
}

json_t *
jschema_write(enum msg_id id, const void *msg)
{
	static json_t *(*const write[])(const struct field *, const void *slot) = {
		[KIND_TEXT] = write_text,
		[KIND_PAGE] = write_page,
		[KIND_BLOB] = write_blob,
		[KIND_ANY] = write_any,
		[KIND_UINT] = write_uint,
		[KIND_INT] = write_int,
		[KIND_REAL] = write_real,
		[KIND_FLAG] = write_flag,
		[KIND_WORD] = write_word,
		[KIND_TEXTS] = write_texts,
		[KIND_ITEM] = write_item,
		[KIND_LIST] = write_list,
	};
	const struct message *m = &messages[id];
	json_t *object = json_object();

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		const void *slot = (const char *)msg + f->offset;

		if (field_given(f, slot) && json_object_setn_new_nocheck(object, f->name,
						f->name_size, write[f->kind](f, slot)) < 0)
			return json_decref(object), NULL;
	}
	return object;
}
