/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_encode.c - structs to msgpack maps, by msgpack-c, driven by schema.def.
 *
 * Trusts the caller's struct to be well formed, but checks its bounds: a message that the peer
 * would refuse is refused here, where the fault is.
 */
#include "common/base/auto.h"
#include "common/codec/field.h"
#include "common/codec/wire.h"

#include <msgpack.h>

#include <string.h>

struct packer {
	msgpack_packer pk;
	struct blob body;
	size_t room;
	bool full; /* the body did not fit, or memory ran out: nothing more is written */
	struct blob *frames[WIRE_MAX_BLOBS]; /* the blobs, which stay in the message until the
	                                        encoding succeeded */
	size_t count;
};

static int
body_write(void *self, const char *data, size_t size)
{
	struct packer *p = self;
	size_t needed = p->body.size + size, room = p->room > 0 ? p->room : 256;

	while (room < needed)
		room *= 2;
	p->full = p->full || needed > WIRE_MAX_BODY;
	if (!p->full && room > p->room) {
		void *grown = realloc(p->body.data, room);

		p->full = grown == NULL;
		if (grown != NULL) {
			p->body.data = grown;
			p->room = room;
		}
	}
	if (p->full)
		return -1;
	memcpy((char *)p->body.data + p->body.size, data, size);
	p->body.size = needed;
	return 0;
}

static int pack_message(struct packer *, enum msg_id, const void *msg, struct err *);

static void
pack_string(struct packer *p, const char *text, size_t size)
{
	msgpack_pack_str(&p->pk, size);
	msgpack_pack_str_body(&p->pk, text, size);
}

static int
pack_text(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	const char *text = *(char **)slot;
	size_t size = strlen(text);

	if (field_text(f, text, size, e) < 0)
		return -1;
	pack_string(p, text, size);
	return 0;
}

static int
pack_frame(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	struct blob *b = slot;

	if (f->kind == KIND_PAGE ? field_page(f, b->data, b->size, e) < 0
				 : field_bytes(f, b->size, e) < 0)
		return -1;
	if (p->count == WIRE_MAX_BLOBS)
		return err_set(e, ERR_limit_exceeded, "%s: the message has over %d blobs", f->name,
		    WIRE_MAX_BLOBS);
	msgpack_pack_uint64(&p->pk, p->count);
	p->frames[p->count++] = b;
	return 0;
}

static int
pack_uint(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	uint64_t n = *(uint64_t *)slot;

	if (field_uint(f, n, e) < 0)
		return -1;
	msgpack_pack_uint64(&p->pk, n);
	return 0;
}

static int
pack_int(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	int64_t n = *(int64_t *)slot;

	if (field_int(f, n, e) < 0)
		return -1;
	msgpack_pack_int64(&p->pk, n);
	return 0;
}

static int
pack_real(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	double n = *(double *)slot;

	if (field_real(f, n, e) < 0)
		return -1;
	msgpack_pack_double(&p->pk, n);
	return 0;
}

static int
pack_flag(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	(void)f;
	(void)e;
	if (*(bool *)slot)
		msgpack_pack_true(&p->pk);
	else
		msgpack_pack_false(&p->pk);
	return 0;
}

static int
pack_word(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	const char *text = word_text(f->set, *(int *)slot);

	if (text == NULL)
		return err_set(e, ERR_invalid_argument, "%s: no word has the number %d", f->name,
		    *(int *)slot);
	pack_string(p, text, strlen(text));
	return 0;
}

static int
pack_texts(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	const struct texts *t = slot;

	if (field_items(f, t->count, e) < 0)
		return -1;
	msgpack_pack_array(&p->pk, t->count);
	for (size_t i = 0; i < t->count; i++) {
		if (field_texts_item(f, i, t->items[i], strlen(t->items[i]), e) < 0)
			return -1;
		pack_string(p, t->items[i], strlen(t->items[i]));
	}
	return 0;
}

static int
pack_item(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	return pack_message(p, f->of, item_of(slot), e) < 0 ? field_within(f, e) : 0;
}

static int
pack_list(struct packer *p, const struct field *f, void *slot, struct err *e)
{
	const struct list *list = slot;

	if (field_items(f, list->count, e) < 0)
		return -1;
	msgpack_pack_array(&p->pk, list->count);
	for (size_t i = 0; i < list->count; i++)
		if (pack_message(p, f->of, (char *)list->items + i * messages[f->of].size, e) < 0)
			return field_within_item(f, i, e);
	return 0;
}

static int
pack_message(struct packer *p, enum msg_id id, const void *msg, struct err *e)
{
	static int (*const pack[])(struct packer *, const struct field *, void *, struct err *) = {
		[KIND_TEXT] = pack_text,
		[KIND_PAGE] = pack_frame,
		[KIND_BLOB] = pack_frame,
		[KIND_ANY] = pack_frame,
		[KIND_UINT] = pack_uint,
		[KIND_INT] = pack_int,
		[KIND_REAL] = pack_real,
		[KIND_FLAG] = pack_flag,
		[KIND_WORD] = pack_word,
		[KIND_TEXTS] = pack_texts,
		[KIND_ITEM] = pack_item,
		[KIND_LIST] = pack_list,
	};
	const struct message *m = &messages[id];
	size_t given = 0;

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		given += field_given(f, (const char *)msg + f->offset);
	msgpack_pack_map(&p->pk, given);
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		void *slot = (char *)msg + f->offset;

		if (!field_given(f, slot)) {
			if (f->needed)
				return err_set(e, ERR_invalid_argument, "%s: missing", f->name);
			continue;
		}
		pack_string(p, f->name, f->name_size);
		if (pack[f->kind](p, f, slot, e) < 0)
			return -1;
	}
	return 0;
}

/* Moves the blobs out of the message. */
static int
take_frames(struct packer *p, struct packed *out, struct err *e)
{
	if (p->count > 0 && (out->blobs = calloc(p->count, sizeof *out->blobs)) == NULL)
		return err_sys(e, "blobs");
	for (; out->count < p->count; out->count++) {
		out->blobs[out->count] = *p->frames[out->count];
		*p->frames[out->count] = (struct blob){ 0 };
	}
	return 0;
}

int
wire_encode(enum msg_id id, void *msg, struct packed *out, struct err *e)
{
	struct packer p; /* the frames need not be initialized */

	p.body = (struct blob){ 0 };
	p.room = p.count = 0;
	p.full = false;
	*out = (struct packed){ 0 };
	msgpack_packer_init(&p.pk, &p, body_write);

	int result = pack_message(&p, id, msg, e);

	if (result == 0 && p.full)
		result =
		    err_set(e, ERR_limit_exceeded, "%s: over the limit of %d bytes, or of memory",
			messages[id].name, WIRE_MAX_BODY);
	if (result < 0 || take_frames(&p, out, e) < 0) {
		blob_clear(&p.body);
		return -1;
	}
	out->body = p.body;
	return 0;
}

void
packed_clear(struct packed *p)
{
	for (size_t i = 0; i < p->count; i++)
		blob_clear(&p->blobs[i]);
	free(p->blobs);
	blob_clear(&p->body);
	*p = (struct packed){ 0 };
}

/* ---- bounds ---- */

enum {
	FIELD_BYTES = 80, /* a key, a number, a word, the length of what follows */
	LENGTH_BYTES = 5, /* the length of one text in a list */
};

static void
add_blobs(const struct field *f, uint64_t times, struct wire_bounds *most)
{
	uint64_t blobs = most->blobs + times;

	most->blobs = blobs < WIRE_MAX_BLOBS ? blobs : WIRE_MAX_BLOBS;
	if ((uint64_t)f->high > most->part)
		most->part = (uint64_t)f->high;
}

static void
add_largest(enum msg_id id, uint64_t times, uint64_t *body, struct wire_bounds *most)
{
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		uint64_t high = f->high < WIRE_MAX_BODY ? (uint64_t)f->high : WIRE_MAX_BODY;
		uint64_t all = times * high < WIRE_MAX_BODY ? times * high : WIRE_MAX_BODY;

		*body += times * FIELD_BYTES;
		if (f->kind == KIND_TEXT)
			*body += all;
		else if (f->kind == KIND_TEXTS)
			*body += all * (FIELD_TEXTS_ITEM + LENGTH_BYTES);
		else if (f->kind == KIND_ITEM)
			add_largest(f->of, times, body, most);
		else if (f->kind == KIND_LIST)
			add_largest(f->of, all, body, most);
		else if (f->kind == KIND_PAGE || f->kind == KIND_BLOB || f->kind == KIND_ANY)
			add_blobs(f, times, most);
	}
}

struct wire_bounds
wire_bounds(enum msg_id id)
{
	struct wire_bounds most = { 0 };
	uint64_t body = FIELD_BYTES;

	add_largest(id, 1, &body, &most);
	if (body > WIRE_MAX_BODY)
		body = WIRE_MAX_BODY;
	if (body > most.part)
		most.part = body;
	return most;
}

void
wire_widen(struct wire_bounds *most, enum msg_id id)
{
	struct wire_bounds bounds = wire_bounds(id);

	most->part = bounds.part > most->part ? bounds.part : most->part;
	most->blobs = bounds.blobs > most->blobs ? bounds.blobs : most->blobs;
}
