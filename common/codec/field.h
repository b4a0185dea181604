/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - what every codec asks of a field, and how an error names it.
 *
 * Each check returns 0, or -1 with a text that begins with the field's name and holds the value and
 * the limit: limit_exceeded over the high bound, invalid_argument for everything else.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	FIELD_TEXTS_ITEM = 4096, /* bytes of each of TEXTS */
};

/* A number, flag or word: it always has a value. */
bool field_is_number(const struct field *);
/* Is there a value?  Numbers, flags and words always have one, and so have lists that are needed.
 */
bool field_given(const struct field *, const void *slot);
/* Gives an absent field what it is taken to be, or refuses, because it is needed. */
int field_absent(const struct field *, void *slot, struct err *);

int field_uint(const struct field *, uint64_t value, struct err *);
int field_int(const struct field *, int64_t value, struct err *);
int field_real(const struct field *, double value, struct err *);
int field_bytes(const struct field *, size_t size, struct err *);
int field_items(const struct field *, size_t count, struct err *);
/* Bytes, UTF-8, no zero byte. */
int field_text(const struct field *, const char *text, size_t size, struct err *);
/* One of TEXTS. */
int field_texts_item(const struct field *, size_t i, const char *text, size_t size, struct err *);
/* The number of the word into *word. */
int field_word(const struct field *, const char *text, size_t size, int *word, struct err *);

/* Puts what the field is part of in front of the text: "files[2].filename: missing". */
int field_within(const struct field *, struct err *);
int field_within_item(const struct field *, size_t i, struct err *);

/* The one of that name, the first looked at the one at `next`; NULL: there is none. */
const struct field *field_find(const struct message *, size_t next, const char *name, size_t size);

/* For a key that the message has not: names it and those it has. */
int field_unknown(enum msg_id, const char *key, size_t size, struct err *);
/* For a value of another type: what came, what is needed. */
int field_mistyped(const struct field *, const char *came, struct err *);
