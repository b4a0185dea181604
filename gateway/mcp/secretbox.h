/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secretbox.h - values that others keep for us, and cannot read, change or keep for long.
 *
 * A value is encrypted with XChaCha20-Poly1305 (libsodium) together with its expiry, and encoded as
 * base64url. What it is about (a purpose, an owner, a file) is authenticated and not stored: who
 * opens it names the same.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	SECRETBOX_KEY = 32,
	SECRETBOX_NONCE = 24,
	SECRETBOX_MAX = 65536, /* bytes of text; longer ones are not looked at */
};

struct secret {
	json_t *value; /* the caller's reference */
	int64_t made_ms, until_ms;
	unsigned char nonce[SECRETBOX_NONCE]; /* random for each one, so that it identifies it */
};

/* The clock of expiries, which gateways that share a key share, too. */
int64_t secretbox_now_ms(void);
/* Text of malloc; NULL: no memory.  about ends with NULL; the value stays the caller's. */
char *secretbox_make(const unsigned char key[SECRETBOX_KEY], const char *const about[],
    const json_t *value, int64_t life_s);
/* -1: it was not made with that key about that, or, with *expired, it is too old. */
int secretbox_open(const unsigned char key[SECRETBOX_KEY], const char *const about[],
    const char *text, struct secret *, bool *expired);
