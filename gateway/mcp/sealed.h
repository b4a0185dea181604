/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed.h - values that a client keeps for the gateway, and cannot read, change, lend or keep for
 * long.
 *
 * A seal is a secret (secretbox.h) under a key that is random at each start, or read from a file
 * that several gateways share.  The purpose and the owner of a seal are authenticated with it.  A
 * seal that was made for another purpose, principal, namespace or request does not open.
 *
 * A seal can be read many times while it is valid.  If it may be used only once, the executor that
 * carries out the action records the use (executor/kept/consent.h).
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/base/err.h"

#include <jansson.h>
#include <stdint.h>

enum {
	SEALED_ID = 32, /* digits */
};

/* Call before entering the jail.  path: a file with 32 bytes in base64; "": a random key. */
int sealed_open(const char *path, struct err *);

/* Base64url text, allocated with malloc; NULL: no memory.  The caller keeps the value. */
char *sealed_make(
    const char *purpose, const struct account *who, const json_t *value, int64_t life_s);
/* What the replay cache stores of a seal. */
struct sealed_use {
	char id[SEALED_ID + 1];
	int64_t made_ms, until_ms; /* since 1970 */
};

/* Returns the sealed value, a new reference, and sets *use if it is not NULL.  NULL with *e:
 * invalid_argument, because the seal was not made here for this purpose and owner, or has
 * expired. */
json_t *sealed_read(const char *purpose, const struct account *who, const char *text,
    struct sealed_use *use, struct err *e);
