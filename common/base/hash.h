/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - SHA-256 by Nettle, which uses the CPU's SHA instructions (four times as fast as
 * libsodium). Random hexadecimal names by libsodium.
 */
#pragma once

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HASH_BYTES = 32,
	HASH_HEX = 65, /* with the zero byte */
};

struct hash {
	struct sha256_ctx state;
};

void hash_begin(struct hash *);
void hash_add(struct hash *, const void *data, size_t size);
void hash_end(struct hash *, uint8_t digest[HASH_BYTES]);
void hash_end_hex(struct hash *, char hex[HASH_HEX]);
void hash_hex(const void *data, size_t size, char hex[HASH_HEX]);
/* Is it 64 lower-case hexadecimal digits? */
int hash_is_hex(const char *text);

/* Writes size - 1 random hexadecimal digits and a zero byte; size is odd. The bits come from
 * getrandom(2) through libsodium. */
void hash_random_hex(char *text, size_t size);
/* A version 4 UUID (RFC 9562), lower case. */
void hash_uuid(char text[37]);
