/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.h - static bearer tokens: the operator's file of token hashes.
 *
 * One JSON object per line; empty lines and lines that begin with # are ignored:
 *
 *   {"name":"ci","principal":"token:ci","namespace":"build","scopes":["read","run"],
 *    "expires":"2027-01-31T00:00:00Z","sha256":"<64 hexadecimal digits>"}
 *
 * name and sha256 are required. Defaults: principal "token:<name>", no namespace, no scopes, no
 * expiry. The hash is a plain SHA-256 of the whole token, without salt or work factor. A token has
 * 256 random bits and cannot be guessed; a slow hash would only let unauthenticated clients consume
 * CPU time, and a key stored with the file would leak with it.
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

/* The entry of a token, or NULL. Compares every entry, so the time does not depend on the token. */
const struct token *tokens_find(const struct tokens *, const char *token, size_t size);
const struct token *tokens_by_name(const struct tokens *, const char *name);

/* A new token's text; the caller wipes it. */
void token_make(char text[TOKEN_TEXT]);
void token_digest(const char *text, size_t size, uint8_t digest[HASH_BYTES]);
/* The line of a token in the file, without the newline, from malloc. Checked as by tokens_read(),
 * so that every written line can be read. expires: as in the file, or NULL. */
char *token_line(const struct token *, const char *expires);
/* "2027-01-31T00:00:00Z" or "2027-01-31" in seconds since 1970; -1 with *e. */
int token_expiry(const char *text, int64_t *seconds, struct err *);
/* The same, or a time from now on: "30d", with s, m, h, d, w or y for seconds to years of 365 days.
 */
int token_expiry_from(const char *text, int64_t now_s, int64_t *seconds, struct err *);
