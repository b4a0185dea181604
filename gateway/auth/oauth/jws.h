/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jws.h - signed tokens in compact form (RFC 7515, section 7.1), checked against known keys.
 *
 * libjose does the cryptography.  jws_load() loads it, and only if an issuer is configured: with
 * OpenSSL behind it, it would double the start time of every other gateway.
 *
 * Only the operator's configuration is trusted.  The algorithm in a token's header is looked up in
 * a list, and the key's id in a set.  A header that contains or points to a key, or names an
 * extension, is refused (RFC 8725, sections 2.10, 3.1, 3.10).
 */
#pragma once

#include "common/credential/jwks.h"

enum {
	JWS_MAX = 8000,    /* bytes of a token */
	JWS_HEADER = 2048, /* of its header, decoded */
	JWS_SIGNATURE = 1024,
};

/* Call before entering the jail.  Loads the library and checks a known answer with it, so that
 * the library opens all its files now. */
int jws_load(struct err *);

/* Returns the claims, an object owned by the caller, or NULL with *e: invalid_argument for text
 * that is not a JWS, unauthenticated for a token that is not accepted.  Errors contain nothing
 * of the token. */
json_t *jws_open(const char *token, size_t size, const struct jwks *, struct err *);
