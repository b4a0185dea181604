/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_decode.c - msgpack maps to structs, driven by schema.def.
 *
 * The bytes come from a peer that may be compromised. msgpack-c is used only for encoding: its
 * decoder builds a tree of 24 bytes and more per input byte and allocates an array when its size is
 * announced. So the tokens (token.h) are stored directly in the struct that the table describes.
 * The depth is that of the table, and nothing is allocated for an announced count without the bytes
 * for it.
 */
#include "common/base/auto.h"
#include "common/codec/field.h"
#include "common/codec/token.h"
#include "common/codec/wire.h"

#include <inttypes.h>
#include <string.h>

struct unpacker {
	struct token_source from;
	struct blob *blobs;
	size_t count;
	bool used[WIRE_MAX_BLOBS];
};

static int unpack_message(
    struct unpacker *, enum msg_id, const struct token *, void *msg, struct err *);

static int
unpack_text(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	(void)u;
	if (field_text(f, t->text, t->n, e) < 0)
		return -1;
	*(char **)slot = strndup(t->text, t->n);
	return *(char **)slot != NULL ? 0 : err_sys(e, "%s", f->name);
}

static int
unpack_frame(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	struct blob *b = slot;

	if (t->n >= u->count)
		return err_set(e, ERR_invalid_argument, "%s: no blob %" PRIu64, f->name, t->n);
	if (u->used[t->n])
		return err_set(
		    e, ERR_invalid_argument, "%s: blob %" PRIu64 " is used twice", f->name, t->n);

	struct blob *frame = &u->blobs[t->n];

	if (f->kind == KIND_PAGE ? field_page(f, frame->data, frame->size, e) < 0
				 : field_bytes(f, frame->size, e) < 0)
		return -1;
	u->used[t->n] = true;
	*b = frame->data != NULL ? *frame : blob_copy("", 0);
	*frame = (struct blob){ 0 };
	return b->data != NULL ? 0 : err_sys(e, "%s", f->name);
}

static int
unpack_uint(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	(void)u;
	*(uint64_t *)slot = t->n;
	return t->type == TOKEN_UINT ? field_uint(f, t->n, e) : field_int(f, (int64_t)t->n, e);
}

static int
unpack_int(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	(void)u;
	*(int64_t *)slot = (int64_t)t->n;
	return t->type == TOKEN_UINT && t->n > INT64_MAX ? field_uint(f, t->n, e)
	                                                 : field_int(f, (int64_t)t->n, e);
}

static int
unpack_real(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	(void)u;
	memcpy(slot, &t->n, sizeof(double));
	return field_real(f, *(double *)slot, e);
}

static int
unpack_flag(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	(void)u;
	(void)f;
	(void)e;
	*(bool *)slot = t->n != 0;
	return 0;
}

static int
unpack_word(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	int word;

	(void)u;
	if (field_word(f, t->text, t->n, &word, e) < 0)
		return -1;
	*(int *)slot = word;
	return 0;
}

static int
unpack_texts(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	struct texts *texts = slot;

	if (field_items(f, t->n, e) < 0)
		return -1;
	if ((texts->items = malloc(sizeof *texts->items)) == NULL)
		return err_sys(e, "%s", f->name);
	for (size_t i = 0; i < t->n; i++) {
		struct token item;

		if (token_read(&u->from, &item, e) < 0)
			return err_add(e, "%s[%zu]", f->name, i);
		if (item.type != TOKEN_STR)
			return err_set(
			    e, ERR_invalid_argument, "%s[%zu]: not a string", f->name, i);
		if (field_texts_item(f, i, item.text, item.n, e) < 0)
			return -1;
		if (texts_add_bytes(texts, item.text, item.n) < 0)
			return err_sys(e, "%s", f->name);
	}
	return 0;
}

static int
unpack_item(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	void *item = calloc(1, messages[f->of].size);

	if (item == NULL)
		return err_sys(e, "%s", f->name);
	memcpy(slot, &item, sizeof item);
	return unpack_message(u, f->of, t, item, e) < 0 ? field_within(f, e) : 0;
}

static int
unpack_list(
    struct unpacker *u, const struct field *f, const struct token *t, void *slot, struct err *e)
{
	struct list *list = slot;

	if (field_items(f, t->n, e) < 0)
		return -1;
	if ((list->items = malloc(messages[f->of].size)) == NULL)
		return err_sys(e, "%s", f->name);
	for (size_t i = 0; i < t->n; i++) {
		struct token map;

		if (token_read(&u->from, &map, e) < 0)
			return err_add(e, "%s[%zu]", f->name, i);
		if (map.type != TOKEN_MAP)
			return err_set(e, ERR_invalid_argument, "%s[%zu]: not a map", f->name, i);

		void *item = list_add(list, messages[f->of].size);

		if (item == NULL)
			return err_sys(e, "%s", f->name);
		if (unpack_message(u, f->of, &map, item, e) < 0)
			return field_within_item(f, i, e);
	}
	return 0;
}

/* The tokens that each kind accepts. */
static const unsigned tokens[] = {
	[KIND_TEXT] = 1u << TOKEN_STR,
	[KIND_PAGE] = 1u << TOKEN_UINT,
	[KIND_BLOB] = 1u << TOKEN_UINT,
	[KIND_ANY] = 1u << TOKEN_UINT,
	[KIND_UINT] = 1u << TOKEN_UINT | 1u << TOKEN_INT,
	[KIND_INT] = 1u << TOKEN_UINT | 1u << TOKEN_INT,
	[KIND_REAL] = 1u << TOKEN_REAL,
	[KIND_FLAG] = 1u << TOKEN_FLAG,
	[KIND_WORD] = 1u << TOKEN_STR,
	[KIND_TEXTS] = 1u << TOKEN_ARRAY,
	[KIND_ITEM] = 1u << TOKEN_MAP,
	[KIND_LIST] = 1u << TOKEN_ARRAY,
};

static int
unpack_field(struct unpacker *u, const struct field *f, void *slot, struct err *e)
{
	static int (*const unpack[])(
	    struct unpacker *, const struct field *, const struct token *, void *, struct err *) = {
		[KIND_TEXT] = unpack_text,
		[KIND_PAGE] = unpack_frame,
		[KIND_BLOB] = unpack_frame,
		[KIND_ANY] = unpack_frame,
		[KIND_UINT] = unpack_uint,
		[KIND_INT] = unpack_int,
		[KIND_REAL] = unpack_real,
		[KIND_FLAG] = unpack_flag,
		[KIND_WORD] = unpack_word,
		[KIND_TEXTS] = unpack_texts,
		[KIND_ITEM] = unpack_item,
		[KIND_LIST] = unpack_list,
	};
	static const char *const names[] = {
		[TOKEN_OTHER] = "another type",
		[TOKEN_UINT] = "an integer",
		[TOKEN_INT] = "a negative integer",
		[TOKEN_REAL] = "a real number",
		[TOKEN_FLAG] = "a flag",
		[TOKEN_STR] = "a string",
		[TOKEN_ARRAY] = "an array",
		[TOKEN_MAP] = "a map",
	};
	struct token t;

	if (token_read(&u->from, &t, e) < 0)
		return err_add(e, "%s", f->name);
	if ((tokens[f->kind] & 1u << t.type) == 0)
		return field_mistyped(f, names[t.type], e);
	return unpack[f->kind](u, f, &t, slot, e);
}

static int
unpack_message(
    struct unpacker *u, enum msg_id id, const struct token *map, void *msg, struct err *e)
{
	const struct message *m = &messages[id];
	bool seen[WIRE_MAX_FIELDS] = { false };
	const struct field *f;
	size_t next = 0;

	for (uint64_t i = 0; i < map->n; i++) {
		struct token key;

		if (token_read(&u->from, &key, e) < 0)
			return err_add(e, "?");
		if (key.type != TOKEN_STR)
			return err_set(e, ERR_invalid_argument, "?: a key is not a string");
		/* Our own encoder sends the keys in order. */
		if ((f = field_find(m, next, key.text, key.n)) == NULL)
			return field_unknown(id, key.text, key.n, e);
		next = (size_t)(f - m->fields);
		if (seen[next])
			return err_set(e, ERR_invalid_argument, "%s: repeated", f->name);
		seen[next++] = true;
		if (unpack_field(u, f, (char *)msg + f->offset, e) < 0)
			return -1;
	}
	for (f = m->fields; f < m->fields + m->nfields; f++)
		if (!seen[f - m->fields] && field_absent(f, (char *)msg + f->offset, e) < 0)
			return -1;
	return 0;
}

static int
unpack_body(struct unpacker *u, enum msg_id id, void *msg, struct err *e)
{
	struct token map;

	if (u->count > WIRE_MAX_BLOBS)
		return err_set(e, ERR_limit_exceeded, "%zu blobs are over the limit of %d",
		    u->count, WIRE_MAX_BLOBS);
	if (u->from.end - u->from.at > WIRE_MAX_BODY)
		return err_set(e, ERR_limit_exceeded, "%td bytes are over the limit of %d",
		    u->from.end - u->from.at, WIRE_MAX_BODY);
	if (token_read(&u->from, &map, e) < 0)
		return -1;
	if (map.type != TOKEN_MAP)
		return err_set(e, ERR_invalid_argument, "the body is not a map");
	if (unpack_message(u, id, &map, msg, e) < 0)
		return -1;
	if (u->from.at < u->from.end)
		return err_set(
		    e, ERR_invalid_argument, "%td bytes after the body", u->from.end - u->from.at);
	for (size_t i = 0; i < u->count; i++)
		if (!u->used[i])
			return err_set(e, ERR_invalid_argument, "blob %zu is not used", i);
	return 0;
}

int
wire_decode(enum msg_id id, const struct packed *p, void *msg, struct err *e)
{
	struct unpacker u = { .blobs = p->blobs, .count = p->count };

	u.from.at = p->body.size > 0 ? p->body.data : (void *)"";
	u.from.end = u.from.at + p->body.size;
	if (unpack_body(&u, id, msg, e) == 0)
		return 0;
	message_clear(id, msg);
	return -1;
}
