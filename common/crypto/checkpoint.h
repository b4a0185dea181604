/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - a signed statement of how far an audit log goes, as text.
 *
 * The form is that of a C2SP signed note with the lines of a tlog-checkpoint:
 *
 *	cloister-audit-sha256-chain/<16 hexadecimal digits of SHA-256 over the public key>
 *	<number of records, decimal>
 *	<seal of the last of them, base64>
 *	time <when it was signed, milliseconds since 1970>
 *
 *	— <the first line again> <base64 of 4 bytes of key hash and the 64 of Ed25519>
 *
 * The seal is that of a record in a chain (common/journal/chain.h): SHA-256 over the record and the
 * seal before it.  It is no Merkle root, so there are no proofs of inclusion: whoever wants to know
 * whether a log holds a checkpoint follows the whole chain.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/hash.h"

enum {
	CHECKPOINT_TEXT = 512, /* with its zero byte */
	CHECKPOINT_ORIGIN = 64,
	CHECKPOINT_KEY = 160, /* a public key as checkpoint_key_text() writes it */
	CHECKPOINT_PUBLIC = 32,
	CHECKPOINT_SECRET = 64,
};

struct checkpoint {
	char origin[CHECKPOINT_ORIGIN];
	uint64_t number; /* of the last record, and so of records */
	uint8_t seal[HASH_BYTES];
	uint64_t time_ms;
};

/* The public key in the form of a note's verifier key: name+hash+base64. */
void checkpoint_key_text(const uint8_t public[CHECKPOINT_PUBLIC], char text[CHECKPOINT_KEY]);
/* invalid_argument: it is no such text, or its name or hash are not of that key. */
int checkpoint_key_read(const char *text, uint8_t public[CHECKPOINT_PUBLIC], struct err *);

/* The text; c->origin is not read, for it follows from the key. */
void checkpoint_sign(
    const struct checkpoint *, const uint8_t secret[CHECKPOINT_SECRET], char text[CHECKPOINT_TEXT]);
/* What it says, whoever signed it.  invalid_argument: it is no checkpoint. */
int checkpoint_read(const char *text, struct checkpoint *, struct err *);
/* The same, and who signed it.  not_found: not that key; denied: the signature does not fit; after
 * either *c says what the text says. */
int checkpoint_verify(
    const char *text, const uint8_t public[CHECKPOINT_PUBLIC], struct checkpoint *c, struct err *);
