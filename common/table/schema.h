/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the messages of schema.def, as C types and as data.
 *
 * A message owns what it points to: every text, blob, item and list in it came
 * from malloc, and message_clear() frees them all.  A zeroed message is empty.
 */
#pragma once

#include "common/base/blob.h"
#include "common/table/edges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct texts {
	char **items;
	size_t count;
};

/* What a walker sees of any LIST(m); a list that is absent has no items, an empty one may. */
struct list {
	void *items;
	size_t count;
} __attribute__((may_alias));

/* clang-format off */
#define C_TEXT     char *
#define C_PAGE     struct blob
#define C_BLOB     struct blob
#define C_ANY      struct blob
#define C_UINT     uint64_t
#define C_INT      int64_t
#define C_REAL     double
#define C_FLAG     bool
#define C_WORD(s)  int
#define C_TEXTS    struct texts
#define C_ITEM(m)  struct m *
#define C_LIST(m)  struct { struct m *items; size_t count; }

#define MESSAGE(m, ...)        struct m {
#define FIELD(m, f, kind, ...) C_##kind f;
#define END(m)                 };
#include "common/table/schema.def"

enum msg_id {
	MSG_none,
#define MESSAGE(m, ...)        MSG_##m,
#define FIELD(...)
#define END(m)
#include "common/table/schema.def"
	MSG_COUNT
};

enum word_set {
	SET_none,
#define WORDS(set)             SET_##set,
#define WORD(set, id, text)
#define END_WORDS(set)
#include "common/table/words.def"
	SET_COUNT
};

/* enum language { language_python, ... language_COUNT } and so on. */
#define WORDS(set)             enum set {
#define WORD(set, id, text)    set##_##id,
#define END_WORDS(set)         set##_COUNT };
#include "common/table/words.def"
/* clang-format on */

enum kind {
	KIND_TEXT,
	KIND_PAGE,
	KIND_BLOB,
	KIND_ANY,
	KIND_UINT,
	KIND_INT,
	KIND_REAL,
	KIND_FLAG,
	KIND_WORD,
	KIND_TEXTS,
	KIND_ITEM,
	KIND_LIST,
};

/* Toolsets: which of them show a tool. */
enum toolset {
	CORE = 1,
	MONITOR = 2,
	SECURE_SANDBOX = 4,
	PYTHON_SANDBOX = 8,
	SANDBOXMCP = 16,
	CODE_SANDBOX = 32,
};

/* MCP tool annotations (ToolAnnotations of the specification), and what the gateway goes by. */
enum hint {
	READ_ONLY = 1,
	DESTRUCTIVE = 2,
	IDEMPOTENT = 4,
	OPEN_WORLD = 8,
	LONG = 16,     /* takes as long as a program does: may be answered by a task */
	FINAL = 32,    /* what it takes away does not come back: with confirm_destructive a user is
	                  asked */
	ANYWHERE = 64, /* without a session it may be served by any of several executors */
	MAKES_SESSION = 128, /* its reply names a session that nobody knew before */
	ENDS_SESSION = 256,  /* the one that ends such a session, one tool only */
};

struct field {
	const char *name;
	size_t name_size; /* so that who looks for one need not read them all */
	enum kind kind;
	enum msg_id of;    /* of an ITEM or LIST */
	enum word_set set; /* of a WORD */
	size_t offset;
	bool needed;
	int64_t fallback; /* what an absent optional number, flag or word is taken to be */
	int64_t low, high;
	const char *doc;
};

struct message {
	const char *name, *doc;
	enum msg_id reply;
	size_t size; /* of its struct */
	const struct field *fields;
	size_t nfields;
	/* Of a tool; otherwise title is NULL. */
	const char *title;
	enum peer server;
	unsigned toolsets, hints;
};

extern const struct message messages[MSG_COUNT];

/* The message of that name, or MSG_none. */
enum msg_id message_find(const char *name);
/* Frees what *msg owns and zeroes it. */
void message_clear(enum msg_id, void *msg);
/* Over name, reply and fields, nested messages too; two builds whose hashes differ do not exchange
 * it. */
uint64_t message_hash(enum msg_id);

/* The text of a word, NULL where there is none; and back, from another name of it too, -1 where
 * there is none. */
const char *word_text(enum word_set, int word);
int word_parse(enum word_set, const char *text, size_t size);

/* What a walker sees of an ITEM(m): its struct, NULL where absent. */
static inline void *
item_of(const void *slot)
{
	void *item;

	memcpy(&item, slot, sizeof item);
	return item;
}

/* A copy of size bytes, and of a C string, with a zero byte behind it that is not counted; data is
 * NULL on ENOMEM only. */
struct blob blob_copy(const void *data, size_t size);
struct blob blob_text(const char *text);
void blob_clear(struct blob *);
/* Appends a copy of text; -1 with errno ENOMEM. */
int texts_add(struct texts *, const char *text);
int texts_add_bytes(struct texts *, const char *text, size_t size);
void texts_clear(struct texts *);
/* Room for one more zeroed element of size bytes at the end of a LIST; NULL with ENOMEM.  This and
 * texts_add grow only what they made from empty, or what a decoder made. */
void *list_add(void *list, size_t size);
