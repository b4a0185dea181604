/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uses.h - when each static token was last used: a file of the gateway, which `cloister token list`
 * reads.
 *
 * A JSON object {credential: seconds since 1970}; credential is the first half of the token's hash
 * (identity.h), which is not secret.
 */
#pragma once

#include "common/credential/identity.h"

#include "common/base/blob.h"
#include "common/base/err.h"

#include <jansson.h>

/* In <state>/gateway. */
#define USES_FILE "tokens.used"

enum { USES_FILE_MAX = 1 << 19 /* bytes */ };

/* What the file has, a new reference; an empty object if it cannot be read. */
json_t *uses_read(int directory);
/* Seconds since 1970; 0: never, as far as is known. */
int64_t uses_of(const json_t *uses, const struct identity *);
/* Sets the later of two times. */
void uses_add(json_t *uses, const char *credential, int64_t seconds);
/* Replaces the file; only credentials that `keeps` knows stay. */
int uses_write(int directory, json_t *uses, bool (*keeps)(const char *credential), struct err *);
