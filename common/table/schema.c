/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - the tables generated from schema.def and words.def, and operations on every message.
 *
 * Every codec is a loop over these tables. Trusts its callers: it never handles external bytes.
 */
#include "common/table/schema.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <string.h>

/* clang-format off */
#define K_TEXT     KIND_TEXT,  MSG_none, SET_none
#define K_PAGE     KIND_PAGE,  MSG_none, SET_none
#define K_BLOB     KIND_BLOB,  MSG_none, SET_none
#define K_ANY      KIND_ANY,   MSG_none, SET_none
#define K_UINT     KIND_UINT,  MSG_none, SET_none
#define K_INT      KIND_INT,   MSG_none, SET_none
#define K_REAL     KIND_REAL,  MSG_none, SET_none
#define K_FLAG     KIND_FLAG,  MSG_none, SET_none
#define K_WORD(s)  KIND_WORD,  MSG_none, SET_##s
#define K_TEXTS    KIND_TEXTS, MSG_none, SET_none
#define K_ITEM(m)  KIND_ITEM,  MSG_##m,  SET_none
#define K_LIST(m)  KIND_LIST,  MSG_##m,  SET_none

#define NEED                   true, false, false, 0
#define OPT(value)             false, false, false, (value)
#define ALSO(value)            false, false, true, (value)
#define OWN(value)             false, true, false, (value)
#define MESSAGE(m, ...)        static const struct field m##_fields[] = {
#define FIELD(m, f, kind, presence, low, high, doc) \
	{ #f, sizeof #f - 1, K_##kind, offsetof(struct m, f), presence, low, high, doc },
#define END(m)                 };
#include "common/table/schema.def"

#define NO_TOOL                            NULL, PEER_none, 0, 0
#define OPERATOR(server)                   NULL, PEER_##server, 0, 0
#define TOOL(title, server, toolsets, hints) title, PEER_##server, toolsets, hints

const struct message messages[MSG_COUNT] = {
	[MSG_none] = { .name = "none", .doc = "" },
#define MESSAGE(m, reply, tool, doc) \
	[MSG_##m] = { #m, doc, MSG_##reply, sizeof(struct m), m##_fields, COUNT(m##_fields), tool },
#define FIELD(...)
#define END(m)
#include "common/table/schema.def"
};

#define WORDS(set)             static const char *const set##_words[] = {
#define WORD(set, id, text)    text,
#define END_WORDS(set)         };
#include "common/table/words.def"

static const struct {
	const char *const *words;
	size_t count;
} sets[SET_COUNT] = {
#define WORDS(set)             [SET_##set] = { set##_words, COUNT(set##_words) },
#define WORD(set, id, text)
#define END_WORDS(set)
#include "common/table/words.def"
};

static const struct {
	enum word_set set;
	int word;
	const char *text;
} others[] = {
#define WORDS(set)
#define WORD(set, id, text)
#define OTHER(set, id, text)   { SET_##set, set##_##id, text },
#define END_WORDS(set)
#include "common/table/words.def"
};
/* clang-format on */

enum msg_id
message_find(const char *name)
{
	for (int id = MSG_none + 1; id < MSG_COUNT; id++)
		if (strcmp(messages[id].name, name) == 0)
			return (enum msg_id)id;
	return MSG_none;
}

enum peer
message_operator(enum msg_id id)
{
	return messages[id].title == NULL ? messages[id].server : PEER_none;
}

static void
clear_text(const struct field *f, void *slot)
{
	(void)f;
	free(*(char **)slot);
}

static void
clear_blob(const struct field *f, void *slot)
{
	(void)f;
	blob_clear(slot);
}

static void
clear_texts(const struct field *f, void *slot)
{
	(void)f;
	texts_clear(slot);
}

static void
clear_item(const struct field *f, void *slot)
{
	void *item = item_of(slot);

	if (item != NULL)
		message_clear(f->of, item);
	free(item);
}

static void
clear_list(const struct field *f, void *slot)
{
	struct list *list = slot;

	for (size_t i = 0; i < list->count; i++)
		message_clear(f->of, (char *)list->items + i * messages[f->of].size);
	free(list->items);
}

void
message_clear(enum msg_id id, void *msg)
{
	static void (*const clear[])(const struct field *, void *slot) = {
		[KIND_TEXT] = clear_text,
		[KIND_PAGE] = clear_blob,
		[KIND_BLOB] = clear_blob,
		[KIND_ANY] = clear_blob,
		[KIND_TEXTS] = clear_texts,
		[KIND_ITEM] = clear_item,
		[KIND_LIST] = clear_list,
	};
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (clear[f->kind] != NULL)
			clear[f->kind](f, (char *)msg + f->offset);
	memset(msg, 0, m->size);
}

static void
hash_text(struct hash *h, const char *text)
{
	hash_add(h, text, strlen(text) + 1);
}

/* Hashes names of messages and words, not their numbers, which change when a row is added. */
static void
hash_message(struct hash *h, enum msg_id id)
{
	const struct message *m = &messages[id];

	hash_text(h, m->name);
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		int64_t facts[] = { f->kind, f->needed, f->fallback, f->low, f->high };

		hash_text(h, f->name);
		hash_add(h, facts, sizeof facts);
		for (size_t w = 0; w < sets[f->set].count; w++)
			hash_text(h, sets[f->set].words[w]);
		if (f->of != MSG_none)
			hash_message(h, f->of);
	}
}

uint64_t
message_hash(enum msg_id id)
{
	struct hash h;
	uint8_t digest[HASH_BYTES];
	uint64_t n = 0;

	hash_begin(&h);
	hash_message(&h, id);
	if (messages[id].reply != MSG_none)
		hash_message(&h, messages[id].reply);
	hash_end(&h, digest);
	for (size_t i = 0; i < sizeof n; i++)
		n = n << 8 | digest[i];
	return n & INT64_MAX;
}

const char *
word_text(enum word_set set, int word)
{
	return word >= 0 && (size_t)word < sets[set].count ? sets[set].words[word] : NULL;
}

static bool
is_text(const char *word, const char *text, size_t size)
{
	return strlen(word) == size && memcmp(word, text, size) == 0;
}

int
word_parse(enum word_set set, const char *text, size_t size)
{
	for (size_t w = 0; w < sets[set].count; w++)
		if (is_text(sets[set].words[w], text, size))
			return (int)w;
	for (size_t i = 0; i < COUNT(others); i++)
		if (others[i].set == set && is_text(others[i].text, text, size))
			return others[i].word;
	return -1;
}

struct blob
blob_copy(const void *data, size_t size)
{
	char *copy = malloc(size + 1);

	if (copy == NULL)
		return (struct blob){ 0 };
	if (size > 0)
		memcpy(copy, data, size);
	copy[size] = 0;
	return (struct blob){ copy, size };
}

struct blob
blob_text(const char *text)
{
	return blob_copy(text, strlen(text));
}

void
blob_clear(struct blob *b)
{
	free(b->data);
	*b = (struct blob){ 0 };
}

void
blob_wipe(struct blob *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->size);
	blob_clear(b);
}

/*
 * Memory for element number `count`.  The capacity follows from the count: it doubles when the
 * count reaches a power of two. So n elements cost O(n), and no capacity is stored.
 */
static void *
grow(void *items, size_t count, size_t size)
{
	if ((count & (count - 1)) != 0)
		return items;
	return reallocarray(items, count > 0 ? count * 2 : 1, size);
}

int
texts_add(struct texts *t, const char *text)
{
	return texts_add_bytes(t, text, strlen(text));
}

int
texts_add_bytes(struct texts *t, const char *text, size_t size)
{
	auto_free char *copy = strndup(text, size);
	char **items = copy != NULL ? grow(t->items, t->count, sizeof *items) : NULL;

	if (items == NULL)
		return -1;
	t->items = items;
	t->items[t->count++] = take_ptr(copy);
	return 0;
}

void
texts_clear(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->items[i]);
	free(t->items);
	*t = (struct texts){ 0 };
}

void *
list_add(void *list, size_t size)
{
	struct list *l = list;
	void *items = grow(l->items, l->count, size);

	if (items == NULL)
		return NULL;
	l->items = items;
	return memset((char *)items + size * l->count++, 0, size);
}
