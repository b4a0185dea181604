/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - signed checkpoints of an audit log, as text.
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
 * seal before it. It is not a Merkle root, so there are no inclusion proofs: to check that a log
 * contains a checkpoint, verify the whole chain.
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
	uint64_t number; /* of the last record, and so the number of records */
	uint8_t seal[HASH_BYTES];
	uint64_t time_ms;
};

/* The public key in the form of a note's verifier key: name+hash+base64. */
void checkpoint_key_text(const uint8_t public[CHECKPOINT_PUBLIC], char text[CHECKPOINT_KEY]);
/* invalid_argument: malformed, or its name or hash does not match the key. */
int checkpoint_key_read(const char *text, uint8_t public[CHECKPOINT_PUBLIC], struct err *);

/* Writes the text. c->origin is ignored, because it follows from the key. */
void checkpoint_sign(
    const struct checkpoint *, const uint8_t secret[CHECKPOINT_SECRET], char text[CHECKPOINT_TEXT]);
/* Parses a checkpoint without verifying its signature. invalid_argument: not a checkpoint. */
int checkpoint_read(const char *text, struct checkpoint *, struct err *);
/* Parses and verifies. not_found: signed by another key; denied: invalid signature. After either
 * error *c contains the parsed text. */
int checkpoint_verify(
    const char *text, const uint8_t public[CHECKPOINT_PUBLIC], struct checkpoint *c, struct err *);
