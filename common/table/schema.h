/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the messages of schema.def, as C types and as data.
 *
 * A message owns everything it points to: each text, blob, item and list comes from malloc, and
 * message_clear() frees them. A zeroed message is empty.
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

/* Any LIST(m), for generic code. items is NULL for an absent list; an empty list may have items. */
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

/* Toolsets, as bits: those that contain a tool. */
enum toolset {
	CORE = 1,
	MONITOR = 2,
	SECURE_SANDBOX = 4,
	PYTHON_SANDBOX = 8,
	SANDBOXMCP = 16,
	CODE_SANDBOX = 32,
};

/* MCP tool annotations (ToolAnnotations in the specification), and hints for the gateway. */
enum hint {
	READ_ONLY = 1,
	DESTRUCTIVE = 2,
	IDEMPOTENT = 4,
	OPEN_WORLD = 8,
	LONG = 16,           /* runs a program: may be answered by a task */
	FINAL = 32,          /* irreversible: with confirm_destructive the user must confirm */
	ANYWHERE = 64,       /* without a session, any executor may serve it */
	MAKES_SESSION = 128, /* its reply names a new session */
	ENDS_SESSION = 256,  /* ends such a session; exactly one tool */
	IN_BOX = 512,       /* of languages other than Python, the executor serves it, in a box; and
	                       with a flag of the gateway's own */
	ASKS_PERSON = 1024, /* a person answers; its reply is an approval_report */
	TAKES_FILE = 2048,  /* its bytes may be those of a file: path and session_id */
	TAKES_SCHEMA = 4096, /* schema_name_or_dict may name a registered schema */
};

struct field {
	const char *name;
	size_t name_size; /* speeds up searches by name */
	enum kind kind;
	enum msg_id of;    /* of an ITEM or LIST */
	enum word_set set; /* of a WORD */
	size_t offset;
	bool needed;
	bool own;         /* set by the gateway only; clients neither see nor send it */
	bool also;        /* taken, and not listed: another field says the same or nearly so */
	int64_t fallback; /* value of an absent optional number, flag or word */
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
	/* Of a tool, or of a message that an operator sends to its socket; otherwise PEER_none. */
	enum peer server;
	unsigned toolsets, hints;
};

extern const struct message messages[MSG_COUNT];

/* The message of that name, or MSG_none. */
enum msg_id message_find(const char *name);
/* The daemon that takes it from an operator (common/daemon/operator.h); PEER_none: none does. */
enum peer message_operator(enum msg_id);
/* Frees what *msg owns and zeroes it. */
void message_clear(enum msg_id, void *msg);
/* Covers name, reply and fields, including nested messages. Builds whose hashes differ do not
 * exchange the message. */
uint64_t message_hash(enum msg_id);

/* The text of a word, or NULL. word_parse() is the inverse and also accepts aliases; -1: no such
 * word. */
const char *word_text(enum word_set, int word);
int word_parse(enum word_set, const char *text, size_t size);

/* An ITEM(m), for generic code: its struct, or NULL if absent. */
static inline void *
item_of(const void *slot)
{
	void *item;

	memcpy(&item, slot, sizeof item);
	return item;
}

/* Copies of size bytes and of a C string, followed by a zero byte that is not counted. data is NULL
 * only on ENOMEM. */
struct blob blob_copy(const void *data, size_t size);
struct blob blob_text(const char *text);
void blob_clear(struct blob *);
/* Overwrites the bytes first. */
void blob_wipe(struct blob *);
/* Appends a copy of text; -1 with errno ENOMEM. */
int texts_add(struct texts *, const char *text);
int texts_add_bytes(struct texts *, const char *text, size_t size);
void texts_clear(struct texts *);
/* Appends a zeroed element of size bytes to a LIST; NULL with ENOMEM. list_add() and texts_add()
 * grow only lists that they or a decoder created. */
void *list_add(void *list, size_t size);
