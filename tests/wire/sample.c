/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - examples out of the table; runs in tests only and trusts itself. */
#include "tests/wire/sample.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <stdio.h>
#include <string.h>

const char *const sample_names[SAMPLE_COUNT] = { "full", "least" };

static void fill(enum msg_id, enum sample, void *msg);

static size_t
between(const struct field *f, size_t wanted)
{
	size_t low = (size_t)f->low, high = (size_t)f->high;

	return wanted < low ? low : wanted > high ? high : wanted;
}

/* The field's name, a character of each length of UTF-8, and what is missing to the minimum. */
static char *
text_for(const struct field *f)
{
	auto_free char *text = NULL;
	size_t size;

	must(asprintf(&text, "%s \"\\\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d", f->name) > 0);
	size = between(f, strlen(text));

	char *exact = malloc(size + 1);

	must(exact != NULL);
	for (size_t i = 0; i < size; i++)
		exact[i] =
		    size >= strlen(text) && i < strlen(text) ? text[i] : "0123456789abcdef"[i % 16];
	exact[size] = 0;
	return exact;
}

static void
fill_text(const struct field *f, enum sample how, void *slot)
{
	(void)how;
	*(char **)slot = text_for(f);
}

static void
fill_page(const struct field *f, enum sample how, void *slot)
{
	auto_free char *text = text_for(f);

	(void)how;
	*(struct blob *)slot = blob_text(text);
}

static void
fill_blob(const struct field *f, enum sample how, void *slot)
{
	static const char bytes[] = "\0\xff\x80not text";
	char longer[64] = { 0 };

	(void)how;
	memcpy(longer, bytes, sizeof bytes - 1);
	*(struct blob *)slot = blob_copy(longer, between(f, sizeof bytes - 1));
}

static void
fill_any(const struct field *f, enum sample how, void *slot)
{
	(void)how;
	(void)f;
	*(struct blob *)slot = blob_text("{\"a\":[1,-0.5,true,null,\"\xc3\xa9\\u0000\"],\"b\":{}}");
}

/* Numbers of every width: the name decides how many bits of the range are used. */
static uint64_t
some_bits(const struct field *f)
{
	uint8_t digest[HASH_BYTES];
	struct hash h;

	hash_begin(&h);
	hash_add(&h, f->name, strlen(f->name));
	hash_end(&h, digest);
	return UINT64_C(0x5123456789abcdef) >> digest[0] % 63;
}

static void
fill_uint(const struct field *f, enum sample how, void *slot)
{
	*(uint64_t *)slot = how == SAMPLE_FULL ? between(f, some_bits(f)) : (uint64_t)f->low;
}

static void
fill_int(const struct field *f, enum sample how, void *slot)
{
	*(int64_t *)slot = how == SAMPLE_FULL ? f->high : f->low;
}

static void
fill_real(const struct field *f, enum sample how, void *slot)
{
	*(double *)slot = how == SAMPLE_FULL ? (double)f->low + 0.5 : (double)f->low;
}

static void
fill_flag(const struct field *f, enum sample how, void *slot)
{
	*(bool *)slot = how == SAMPLE_FULL ? !f->fallback : f->fallback;
}

static void
fill_word(const struct field *f, enum sample how, void *slot)
{
	int last = 0;

	while (word_text(f->set, last + 1) != NULL)
		last++;
	*(int *)slot = how == SAMPLE_FULL ? last : (int)f->fallback;
}

static void
fill_texts(const struct field *f, enum sample how, void *slot)
{
	size_t count = how == SAMPLE_FULL ? between(f, 2) : (size_t)f->low;

	for (size_t i = 0; i < count; i++)
		must(texts_add(slot, i == 0 ? f->name : "") == 0);
}

static void
fill_item(const struct field *f, enum sample how, void *slot)
{
	void *item = sample_new(f->of, how);

	memcpy(slot, &item, sizeof item);
}

static void
fill_list(const struct field *f, enum sample how, void *slot)
{
	size_t count = how == SAMPLE_FULL ? between(f, 2) : (size_t)f->low;

	for (size_t i = 0; i < count; i++) {
		void *item = list_add(slot, messages[f->of].size);

		must(item != NULL);
		fill(f->of, i == 0 ? SAMPLE_LEAST : how, item);
	}
}

static void
fill(enum msg_id id, enum sample how, void *msg)
{
	static void (*const fill_kind[])(const struct field *, enum sample, void *slot) = {
		[KIND_TEXT] = fill_text,
		[KIND_PAGE] = fill_page,
		[KIND_BLOB] = fill_blob,
		[KIND_ANY] = fill_any,
		[KIND_UINT] = fill_uint,
		[KIND_INT] = fill_int,
		[KIND_REAL] = fill_real,
		[KIND_FLAG] = fill_flag,
		[KIND_WORD] = fill_word,
		[KIND_TEXTS] = fill_texts,
		[KIND_ITEM] = fill_item,
		[KIND_LIST] = fill_list,
	};
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (how == SAMPLE_FULL || f->needed || f->kind == KIND_UINT ||
		    f->kind == KIND_REAL || f->kind == KIND_FLAG || f->kind == KIND_WORD)
			fill_kind[f->kind](f, how, (char *)msg + f->offset);
}

void *
sample_empty(enum msg_id id)
{
	void *msg = calloc(1, messages[id].size);

	must(msg != NULL);
	return msg;
}

void *
sample_new(enum msg_id id, enum sample how)
{
	void *msg = sample_empty(id);

	fill(id, how, msg);
	return msg;
}

void
sample_free(enum msg_id id, void *msg)
{
	message_clear(id, msg);
	free(msg);
}

struct packed
sample_packed(enum msg_id id, enum sample how)
{
	void *msg = sample_new(id, how);
	struct packed p;
	struct err e;

	if (wire_encode(id, msg, &p, &e) < 0) {
		fprintf(stderr, "%s: %s\n", messages[id].name, e.text);
		abort();
	}
	sample_free(id, msg);
	return p;
}

struct packed
sample_copy(const struct packed *p)
{
	struct packed copy = {
		.body = blob_copy(p->body.data, p->body.size),
		.blobs = calloc(p->count + 1, sizeof *p->blobs),
		.count = p->count,
	};

	must(copy.blobs != NULL);
	for (size_t i = 0; i < p->count; i++)
		copy.blobs[i] = blob_copy(p->blobs[i].data, p->blobs[i].size);
	return copy;
}

static bool
same(const struct blob *a, const struct blob *b)
{
	return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

bool
sample_same(const struct packed *a, const struct packed *b)
{
	if (a->count != b->count || !same(&a->body, &b->body))
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!same(&a->blobs[i], &b->blobs[i]))
			return false;
	return true;
}

bool
sample_is_zero(enum msg_id id, const void *msg)
{
	const char *bytes = msg;

	for (size_t i = 0; i < messages[id].size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}
