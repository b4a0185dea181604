/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.h - values that a client keeps for us, and cannot read, change, lend or keep for long.
 *
 * A secret (secretbox.h) under a key that is random at each start, or stands in a file that
 * several gateways share.  What a seal is for and for whom is authenticated with it: one made for
 * another purpose, principal, name space or request does not open.
 *
 * A seal can be read again and again within its life, or be used once.  What was used is noted in
 * this process only (spent.h): one that is from before its start is not used at all, and each of
 * several gateways with one key lets one be used once.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/base/err.h"

#include <jansson.h>
#include <stdint.h>

/* Before the jail.  path: a file with 32 bytes in base64; "": a random key. */
int sealed_open(const char *path, struct err *);

/* Base64url text of malloc; NULL: no memory.  The value stays the caller's. */
char *sealed_make(
    const char *purpose, const struct account *who, const json_t *value, int64_t life_s);
/* What was sealed, a new reference; NULL with *e: invalid_argument, saying that it was not made
 * here for this, or is too old. */
json_t *sealed_read(
    const char *purpose, const struct account *who, const char *text, struct err *e);
/* The same, and it is used with that: no second time in this process. */
json_t *sealed_use(const char *purpose, const struct account *who, const char *text, struct err *e);
