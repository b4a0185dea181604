/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwks.h - the issuer's public keys: a JWK set (RFC 7517, section 5) from a file.
 *
 * The file belongs to the operator, its content comes from the issuer. Harmful and unusable keys
 * are skipped and logged, as the RFC requires for unknown ones. A set without a usable key is
 * refused.
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
	unsigned algorithms; /* that it may verify */
	json_t *json;        /* kty and the public numbers, nothing else */
};

struct jwks {
	struct jwk *items;
	size_t count;
};

int jwks_read(const struct blob *file, struct jwks *, struct err *);
void jwks_clear(struct jwks *);

/* ALGORITHM_COUNT: not accepted. */
enum algorithm algorithm_parse(const char *name);
/*
 * The key for a signature: the key with that id and algorithm; without an id, the only key for that
 * algorithm. NULL: none, or several. The id is only compared.
 */
const struct jwk *jwks_find(const struct jwks *, enum algorithm, const char *id);
