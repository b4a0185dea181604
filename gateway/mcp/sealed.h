/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.h - values that a client keeps for us, and cannot read, change, lend or keep for long.
 *
 * A secret (secretbox.h) under a key that is random at each start, or stands in a file that
 * several gateways share.  What a seal is for and for whom is authenticated with it: one made for
 * another purpose, principal, name space or request does not open.
 *
 * A seal can be read again and again within its life.  A use of it that may be made once is spent
 * where the action happens, with an executor (executor/kept/consent.h).
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/base/err.h"

#include <jansson.h>
#include <stdint.h>

enum {
	SEALED_ID = 32, /* digits */
};

/* Before the jail.  path: a file with 32 bytes in base64; "": a random key. */
int sealed_open(const char *path, struct err *);

/* Base64url text of malloc; NULL: no memory.  The value stays the caller's. */
char *sealed_make(
    const char *purpose, const struct account *who, const json_t *value, int64_t life_s);
/* What a replay cache knows a seal by. */
struct sealed_use {
	char id[SEALED_ID + 1];
	int64_t made_ms, until_ms; /* since 1970 */
};

/* What was sealed, a new reference, and *use, if that is not NULL.  NULL with *e: invalid_argument,
 * saying that it was not made here for this, or is too old. */
json_t *sealed_read(const char *purpose, const struct account *who, const char *text,
    struct sealed_use *use, struct err *e);
