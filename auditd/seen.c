/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.c - a ring of keys in order of arrival, and a hash table of ring positions.
 *
 * A key is 128 bits of keyed SipHash.  Each process creates its own key at the start, and no peer
 * knows it, so none can construct a uid that hides another daemon's event.
 */
#include "auditd/seen.h"

#include "common/base/err.h"

#include <sodium.h>
#include <stdint.h>
#include <string.h>

enum {
	RING = 1 << 16,
	TABLE = 1 << 17, /* at most half full, so that probing is short */
};

struct key {
	uint64_t half[2];
};

static struct {
	unsigned char secret[crypto_shorthash_siphashx24_KEYBYTES];
	struct key ring[RING];
	uint32_t table[TABLE]; /* ring position plus one; 0: empty */
	size_t first, count;
} seen;

static struct key
key_of(const char *daemon, const char *uid)
{
	unsigned char text[256];
	size_t name = strlen(daemon), size = strlen(uid);
	struct key key;

	/* The zero byte between them keeps "ab","c" apart from "a","bc". */
	must(name + 1 + size + 1 <= sizeof(text));
	memcpy(text, daemon, name + 1);
	memcpy(text + name + 1, uid, size + 1);
	crypto_shorthash_siphashx24((unsigned char *)&key, text, name + 1 + size, seen.secret);
	return key;
}

static bool
same(const struct key *a, const struct key *b)
{
	return a->half[0] == b->half[0] && a->half[1] == b->half[1];
}

/* The slot of the key, or the slot where it belongs. */
static size_t
slot_of(const struct key *key)
{
	size_t slot = key->half[0] % TABLE;

	while (seen.table[slot] != 0 && !same(&seen.ring[seen.table[slot] - 1], key))
		slot = (slot + 1) % TABLE;
	return slot;
}

/* Empties a slot and moves back the entries that probed past it. */
static void
vacate(size_t hole)
{
	for (size_t slot = (hole + 1) % TABLE; seen.table[slot] != 0; slot = (slot + 1) % TABLE) {
		size_t home = seen.ring[seen.table[slot] - 1].half[0] % TABLE;

		if ((slot - home) % TABLE < (slot - hole) % TABLE)
			continue;
		seen.table[hole] = seen.table[slot];
		hole = slot;
	}
	seen.table[hole] = 0;
}

void
seen_open(void)
{
	memset(&seen, 0, sizeof(seen));
	randombytes_buf(seen.secret, sizeof(seen.secret));
}

bool
seen_add(const char *daemon, const char *uid)
{
	struct key key = key_of(daemon, uid);
	size_t slot = slot_of(&key);

	if (seen.table[slot] != 0)
		return false;
	if (seen.count == RING) {
		vacate(slot_of(&seen.ring[seen.first]));
		seen.first = (seen.first + 1) % RING;
		seen.count--;
		slot = slot_of(&key);
	}

	size_t place = (seen.first + seen.count++) % RING;

	seen.ring[place] = key;
	seen.table[slot] = (uint32_t)place + 1;
	return true;
}

void
seen_undo(size_t n)
{
	for (; n > 0 && seen.count > 0; n--)
		vacate(slot_of(&seen.ring[(seen.first + --seen.count) % RING]));
}
