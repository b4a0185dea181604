/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jws.h - a signed token in compact form (RFC 7515, section 7.1), checked against known keys.
 *
 * libjose does the arithmetic.  It is loaded by jws_load() and only where an issuer is configured:
 * with OpenSSL behind it, it would double the time that every other gateway takes to start.
 *
 * Trusted is only what the operator configured: of a token's header the algorithm is looked up in
 * a list and the key's id in a set; a header that brings or points to a key of its own, or names an
 * extension, is refused (RFC 8725, sections 2.10, 3.1, 3.10).
 */
#pragma once

#include "common/credential/jwks.h"

enum {
	JWS_MAX = 8000,    /* bytes of a token */
	JWS_HEADER = 2048, /* of its header, decoded */
	JWS_SIGNATURE = 1024,
};

/* Before the jail: loads the library and lets it check a known answer, so that whatever it reads is
 * read. */
int jws_load(struct err *);

/* The claims, an object of the caller's; or NULL with *e: invalid_argument for what is no JWS at
 * all, unauthenticated for one that is not accepted.  Errors hold nothing of the token. */
json_t *jws_open(const char *token, size_t size, const struct jwks *, struct err *);
