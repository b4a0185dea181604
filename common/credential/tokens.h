/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.h - static bearer tokens: the operator's file of who may come in, as hashes.
 *
 * One JSON object a line; lines that are empty or begin with # are left out:
 *
 *   {"name":"ci","principal":"token:ci","namespace":"build","scopes":["read","run"],
 *    "expires":"2027-01-31T00:00:00Z","sha256":"<64 hexadecimal digits>"}
 *
 * name and sha256 must be there; principal is "token:<name>", namespace none, scopes none and
 * expires never where they are absent.  The hash is a plain SHA-256 of the whole token, without
 * salt or work factor, because a token is 256 random bits: there is nothing to guess, a slow hash
 * would only let strangers buy our time, and a key beside the file would leak with it.
 */
#pragma once

#include "common/credential/identity.h"

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/table/schema.h"

#include <jansson.h>

enum {
	TOKENS_FILE_MAX = 1 << 20, /* bytes */
	TOKENS_MAX = 4096,
	TOKEN_NAME = 65, /* bytes with the zero byte */
	TOKEN_BYTES = 32,
	TOKEN_TEXT = 3 + 43 + 1, /* "cl_", base64url, the zero byte */
};

struct token {
	char name[TOKEN_NAME];
	uint8_t digest[HASH_BYTES];
	struct identity identity;
};

struct tokens {
	struct token *items;
	size_t count;
};

/* The whole file or nothing: -1 names the line, the field and the limit.  Texts are untrusted. */
int tokens_read(const struct blob *file, struct tokens *, struct err *);
void tokens_clear(struct tokens *);

/* The entry of a token, or NULL.  Takes as long whatever the token is: each entry is compared. */
const struct token *tokens_find(const struct tokens *, const char *token, size_t size);
const struct token *tokens_by_name(const struct tokens *, const char *name);

/* A new token's text; the caller wipes it. */
void token_make(char text[TOKEN_TEXT]);
void token_digest(const char *text, size_t size, uint8_t digest[HASH_BYTES]);
/* Its line in the file, without the newline: checked as tokens_read() does, so that what is written
 * can be read.  of malloc.  expires: as in the file, or NULL. */
char *token_line(const struct token *, const char *expires);
/* "2027-01-31T00:00:00Z" or "2027-01-31" in seconds since 1970; -1 with *e. */
int token_expiry(const char *text, int64_t *seconds, struct err *);
