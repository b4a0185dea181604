/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - checks of a field for all codecs, and its name in errors.
 *
 * Each check returns 0, or -1 with a text that begins with the field's name and contains the value
 * and the limit: limit_exceeded above the high bound, otherwise invalid_argument.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	FIELD_TEXTS_ITEM = 4096, /* bytes of each of TEXTS */
};

/* A number, flag or word, which always has a value. */
bool field_is_number(const struct field *);
/* Is there a value? Numbers, flags, words and required lists always have one. */
bool field_given(const struct field *, const void *slot);
/* Sets an absent field to its default; an error if the field is required. */
int field_absent(const struct field *, void *slot, struct err *);

int field_uint(const struct field *, uint64_t value, struct err *);
int field_int(const struct field *, int64_t value, struct err *);
int field_real(const struct field *, double value, struct err *);
int field_bytes(const struct field *, size_t size, struct err *);
int field_items(const struct field *, size_t count, struct err *);
/* Bytes, UTF-8. */
int field_page(const struct field *, const char *text, size_t size, struct err *);
/* Likewise, and no zero byte. */
int field_text(const struct field *, const char *text, size_t size, struct err *);
/* One of TEXTS. */
int field_texts_item(const struct field *, size_t i, const char *text, size_t size, struct err *);
/* Stores the number of the word in *word. */
int field_word(const struct field *, const char *text, size_t size, int *word, struct err *);

/* Prepends the enclosing field to the text: "files[2].filename: missing". */
int field_within(const struct field *, struct err *);
int field_within_item(const struct field *, size_t i, struct err *);

/* The field of that name, or NULL; the search starts at index `next`. */
const struct field *field_find(const struct message *, size_t next, const char *name, size_t size);

/* For an unknown key: names it and the known ones. */
int field_unknown(enum msg_id, const char *key, size_t size, struct err *);
/* For a value of another type: names the actual and the expected type. */
int field_mistyped(const struct field *, const char *came, struct err *);
