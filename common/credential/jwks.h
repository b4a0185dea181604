/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwks.h - the issuer's public keys: a JWK set (RFC 7517, section 5) from a file.
 *
 * The file is the operator's, its content the issuer's: keys that can do harm or are of no use here
 * are left out, with a word in the log, as the RFC asks for what is not understood; a set of which
 * nothing is left is refused.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <jansson.h>

enum {
	JWKS_FILE = 256 << 10, /* bytes */
	JWKS_MAX = 64,
	JWK_ID = 256, /* bytes with the zero byte */
};

/* Algorithms, as bits. */
enum algorithm {
#define ALGORITHM(name, ...) ALGORITHM_##name,
#include "common/credential/algorithms.def"
	ALGORITHM_COUNT
};

struct jwk {
	char id[JWK_ID];     /* "": none */
	unsigned algorithms; /* that it may check */
	json_t *json;        /* kty and the public numbers, nothing else */
};

struct jwks {
	struct jwk *items;
	size_t count;
};

int jwks_read(const struct blob *file, struct jwks *, struct err *);
void jwks_clear(struct jwks *);

/* ALGORITHM_COUNT for what is not accepted, whatever it is. */
enum algorithm algorithm_parse(const char *name);
/*
 * The key for a signature: the one of that id that may check that algorithm; without an id, the
 * only one that may.  NULL: none, or several.  The id is compared and used for nothing else.
 */
const struct jwk *jwks_find(const struct jwks *, enum algorithm, const char *id);
