/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the signed statement about an artifact, and its verification.
 *
 * The statement is these lines of UTF-8, each ended by one newline, and nothing else; the signature
 * is Ed25519 (RFC 8032, pure) over them:
 *
 *	cloister artifact v1
 *	execution <execution_id>
 *	path <filename>
 *	size <size, decimal>
 *	sha256 <sha256>
 *	type <mime_type>
 *	time <signed_at>
 *
 * The values are those of the artifact's JSON, character by character. None can contain a newline:
 * control characters in a filename are written as %XX. The first line separates these signatures
 * from any other use of the key.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	SEAL_KEY_BYTES = 32,
	SEAL_KEY =
	    45, /* a public key, or the seed of a secret one, in base64, with its zero byte */
	SEAL_SIGNATURE = 89, /* a signature likewise */
};

/* The statement, from malloc. invalid_argument names the missing field. */
char *seal_statement(const struct artifact *, struct err *);
/* 0: the signature is valid for that public key. */
int seal_verify(const struct artifact *, const char *public_key, struct err *);
/* Strict base64 of exactly size bytes; a final newline is ignored. */
int seal_decode(const char *name, const char *text, void *bytes, size_t size, struct err *);
