/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secretbox.h - encrypted values that clients keep for the server, and cannot read, change or keep
 * for long.
 *
 * A value is encrypted with XChaCha20-Poly1305 (libsodium) together with its expiry, and encoded
 * as base64url.  Its context (a purpose, an owner, a file) is authenticated but not stored: the
 * reader must name the same context.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	SECRETBOX_KEY = 32,
	SECRETBOX_NONCE = 24,
	SECRETBOX_MAX = 65536, /* bytes of text; longer texts are refused unread */
};

struct secret {
	json_t *value; /* the caller's reference */
	int64_t made_ms, until_ms;
	unsigned char nonce[SECRETBOX_NONCE]; /* random, so that it identifies the value */
};

/* The clock that expiries are measured by, the same for gateways that share a key. */
int64_t secretbox_now_ms(void);
/* Allocates the text with malloc; NULL: no memory.  about ends with NULL.  The caller keeps the
 * value. */
char *secretbox_make(const unsigned char key[SECRETBOX_KEY], const char *const about[],
    const json_t *value, int64_t life_s);
/* -1: the text was not made with that key and context, or, with *expired set, is too old. */
int secretbox_open(const unsigned char key[SECRETBOX_KEY], const char *const about[],
    const char *text, struct secret *, bool *expired);
