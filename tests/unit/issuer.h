/* SPDX-License-Identifier: Apache-2.0 */
/* issuer.h - an OAuth issuer for tests: creates keys for each run, and tokens with any content. */
#pragma once

#include "common/credential/jwks.h"

/* A new key pair with that algorithm and id (NULL: none); a JWK of the caller's. */
json_t *issuer_key(const char *alg, const char *kid);
/* Its public half, as in a set; NULL-ended keys as the text of one, of malloc. */
json_t *issuer_public(const json_t *key);
char *issuer_set(const json_t *key, ...) __attribute__((sentinel));
/* A compact JWS over exactly these bytes; key NULL: with an empty signature.  Of malloc. */
char *issuer_sign(const char *header, const char *payload, const json_t *key);
