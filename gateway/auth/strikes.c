/* SPDX-License-Identifier: Apache-2.0 */
/* strikes.c - counters of failures by address.  Memory is constant, and no address can choose
 * its slot. */
#include "gateway/auth/strikes.h"

#include "common/base/auto.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { PLACES = 4096 };

struct from {
	uint8_t bytes[9]; /* the kind, and the address or its /64 */
};

static struct place {
	struct from from;
	int64_t clear_ms; /* when the last strike expires */
} places[PLACES];

static uint8_t key[crypto_shorthash_KEYBYTES];
static bool keyed;

static struct from
parse(const char *address)
{
	struct from from = { 0 };
	struct in6_addr six;
	struct in_addr four;
	bool is_six = inet_pton(AF_INET6, address, &six) == 1;

	if (is_six && IN6_IS_ADDR_V4MAPPED(&six)) {
		from.bytes[0] = 4;
		memcpy(from.bytes + 1, six.s6_addr + 12, 4);
	} else if (is_six) {
		from.bytes[0] = 6;
		memcpy(from.bytes + 1, six.s6_addr, 8);
	} else if (inet_pton(AF_INET, address, &four) == 1) {
		from.bytes[0] = 4;
		memcpy(from.bytes + 1, &four, 4);
	}
	return from;
}

static struct place *
find(const struct from *from)
{
	uint8_t hash[crypto_shorthash_BYTES];
	uint64_t number;

	if (!keyed) {
		crypto_shorthash_keygen(key);
		keyed = true;
	}
	crypto_shorthash(hash, from->bytes, sizeof from->bytes, key);
	memcpy(&number, hash, sizeof number);
	return &places[number % PLACES];
}

static unsigned
count(const struct place *place, int64_t now_ms)
{
	int64_t left_ms = place->clear_ms - now_ms;

	return left_ms <= 0 ? 0 : (unsigned)((left_ms + STRIKE_MS - 1) / STRIKE_MS);
}

unsigned
strikes_add(const char *address, int64_t now_ms)
{
	struct from from = parse(address);
	struct place *place = find(&from);
	unsigned strikes = count(place, now_ms);

	if (memcmp(&place->from, &from, sizeof from) != 0) {
		if (strikes > 1) {
			place->clear_ms -= STRIKE_MS; /* so that no address keeps it forever */
			return 1;
		}
		*place = (struct place){ .from = from };
		strikes = 0;
	}
	if (strikes >= STRIKES_MOST)
		return strikes;
	place->clear_ms = (strikes > 0 ? place->clear_ms : now_ms) + STRIKE_MS;
	return strikes + 1;
}

int
strikes_wait(const char *address, int64_t now_ms)
{
	struct from from = parse(address);
	const struct place *place = find(&from);

	if (memcmp(&place->from, &from, sizeof from) != 0 || count(place, now_ms) < STRIKES_MOST)
		return 0;
	return (int)(place->clear_ms - now_ms - (STRIKES_MOST - 1) * STRIKE_MS);
}

void
strikes_clear(void)
{
	memset(places, 0, sizeof places);
}
