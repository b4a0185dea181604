/* SPDX-License-Identifier: Apache-2.0 */
/* issuer.h - an OAuth issuer for tests: creates keys for each run, and tokens with any content. */
#pragma once

#include "common/credential/jwks.h"

/* A new key pair with that algorithm and id (NULL: none), as a JWK that the caller owns. */
json_t *issuer_key(const char *alg, const char *kid);
/* The public half, as in a set; from several keys, ended by NULL, the text of a set, from
 * malloc. */
json_t *issuer_public(const json_t *key);
char *issuer_set(const json_t *key, ...) __attribute__((sentinel));
/* A compact JWS over exactly these bytes; key NULL: with an empty signature.  From malloc. */
char *issuer_sign(const char *header, const char *payload, const json_t *key);
