/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - SHA-256 and random names; trusts Nettle, libsodium, and the kernel for its random bits.
 */
#include "common/base/hash.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <sodium.h>
#include <string.h>

void
hash_begin(struct hash *h)
{
	sha256_init(&h->state);
}

void
hash_add(struct hash *h, const void *data, size_t size)
{
	sha256_update(&h->state, size, data);
}

void
hash_end(struct hash *h, uint8_t digest[HASH_BYTES])
{
	sha256_digest(&h->state, HASH_BYTES, digest);
}

void
hash_end_hex(struct hash *h, char hex[HASH_HEX])
{
	uint8_t digest[HASH_BYTES];

	hash_end(h, digest);
	sodium_bin2hex(hex, HASH_HEX, digest, sizeof digest);
}

void
hash_hex(const void *data, size_t size, char hex[HASH_HEX])
{
	struct hash h;

	hash_begin(&h);
	hash_add(&h, data, size);
	hash_end_hex(&h, hex);
}

int
hash_is_hex(const char *text)
{
	return strspn(text, "0123456789abcdef") == HASH_HEX - 1 && text[HASH_HEX - 1] == 0;
}

void
hash_random_hex(char *text, size_t size)
{
	must(size % 2 == 1 && sodium_init() >= 0);
	text[0] = 0;
	for (size_t at = 0, n; at + 1 < size; at += n * 2) {
		uint8_t bytes[32];

		n = (size - 1 - at) / 2 < sizeof bytes ? (size - 1 - at) / 2 : sizeof bytes;
		randombytes_buf(bytes, n);
		sodium_bin2hex(text + at, n * 2 + 1, bytes, n);
	}
}

void
hash_uuid(char text[37])
{
	static const size_t groups[] = { 4, 2, 2, 2, 6 };
	uint8_t bytes[16], *from = bytes;

	must(sodium_init() >= 0);
	randombytes_buf(bytes, sizeof bytes);
	bytes[6] = (bytes[6] & 0x0f) | 0x40; /* version 4 */
	bytes[8] = (bytes[8] & 0x3f) | 0x80; /* variant of RFC 9562 */
	for (size_t i = 0; i < COUNT(groups); from += groups[i++]) {
		sodium_bin2hex(text, groups[i] * 2 + 1, from, groups[i]);
		text += groups[i] * 2;
		*text++ = '-';
	}
	text[-1] = 0;
}
