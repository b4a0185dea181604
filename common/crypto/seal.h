/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - what an executor says by signing an artifact, and whether it did.
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
 * The values are those of the artifact's JSON, letter by letter.  None can hold a newline: a
 * filename has its control characters as %XX.  The first line is what keeps the key's signatures
 * apart from any other that it may be used for.
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

/* The statement, of malloc.  invalid_argument names what the artifact lacks. */
char *seal_statement(const struct artifact *, struct err *);
/* 0: whoever has the secret of that public key signed it. */
int seal_verify(const struct artifact *, const char *public_key, struct err *);
/* Strict base64 of exactly size bytes; a line end behind it is no part of it. */
int seal_decode(const char *name, const char *text, void *bytes, size_t size, struct err *);
