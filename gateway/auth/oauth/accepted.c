/* SPDX-License-Identifier: Apache-2.0 */
/* accepted.c - one slot for each first byte of a digest; a new token replaces the old one. */
#include "gateway/auth/oauth/accepted.h"

#include "common/base/hash.h"

#include <sodium.h>
#include <string.h>

enum { PLACES = 256 };

static struct place {
	uint8_t digest[HASH_BYTES];
	struct identity who; /* principal "": free */
} places[PLACES];

static struct place *
place_of(const char *token, size_t size, uint8_t digest[HASH_BYTES])
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, token, size);
	hash_end(&hash, digest);
	return &places[digest[0]];
}

const struct identity *
accepted_find(const char *token, size_t size, int64_t now_s)
{
	uint8_t digest[HASH_BYTES];
	struct place *place = place_of(token, size, digest);

	if (place->who.owner.principal[0] == '\0' ||
	    sodium_memcmp(place->digest, digest, HASH_BYTES) != 0)
		return NULL;
	if (now_s < place->who.expires_s)
		return &place->who;
	sodium_memzero(place, sizeof *place);
	return NULL;
}

void
accepted_add(const char *token, size_t size, const struct identity *who)
{
	uint8_t digest[HASH_BYTES];
	struct place *place = place_of(token, size, digest);

	memcpy(place->digest, digest, HASH_BYTES);
	place->who = *who;
}

void
accepted_clear(void)
{
	sodium_memzero(places, sizeof places);
}
