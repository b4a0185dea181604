/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distinct.c - a hash table with open addressing.
 *
 * The key is random, so that no text can be made whose cells collide. Values of up to 16 bytes are
 * kept as they are, mixed.
 */
#include "validator/csv/distinct.h"

#include "validator/csv/value.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct distinct_entry {
	uint64_t hash[2]; /* zeros: empty */
	uint64_t at;
};

_Static_assert(sizeof(((struct distinct_entry *)0)->hash) == crypto_shorthash_siphashx24_BYTES, "");

void
distinct_begin(struct distinct_budget *budget, size_t entries)
{
	budget->left = entries;
	randombytes_buf(budget->key, sizeof budget->key);
	randombytes_buf(budget->secrets, sizeof budget->secrets);
}

static struct distinct_entry *
find(struct distinct_entry *entries, size_t room, const uint64_t hash[2])
{
	size_t at = (size_t)hash[0] & (room - 1);

	while ((entries[at].hash[0] | entries[at].hash[1]) != 0 &&
	       (entries[at].hash[0] != hash[0] || entries[at].hash[1] != hash[1]))
		at = (at + 1) & (room - 1);
	return &entries[at];
}

static int
grow(struct distinct *set)
{
	size_t room = set->room > 0 ? set->room * 2 : 16;
	struct distinct_entry *entries = calloc(room, sizeof *entries);

	if (entries == NULL)
		return -1;
	for (size_t i = 0; i < set->room; i++)
		if ((set->entries[i].hash[0] | set->entries[i].hash[1]) != 0)
			*find(entries, room, set->entries[i].hash) = set->entries[i];
	free(set->entries);
	set->entries = entries;
	set->room = room;
	return 0;
}

/* One to one, so that short values need no hash; the secret decides where they are in the table. */
static uint64_t
mix(uint64_t value, uint64_t secret)
{
	value = (value ^ secret) * (secret | 1);
	value ^= value >> 32;
	value *= 0x9e3779b97f4a7c15;
	return value ^ value >> 29;
}

static void
hash_value(const struct distinct_budget *budget, const char *data, size_t size, uint64_t hash[2])
{
	size_t first = size < 8 ? size : 8;

	if (size > 2 * sizeof(uint64_t)) {
		crypto_shorthash_siphashx24(
		    (unsigned char *)hash, (const unsigned char *)data, size, budget->key);
		return;
	}
	/* Zeros fill them up, which no text has. */
	hash[1] = mix(value_head(data + first, size - first), budget->secrets[1]);
	hash[0] = mix(value_head(data, first) ^ hash[1], budget->secrets[0]);
}

enum distinct_result
distinct_add(struct distinct *set, struct distinct_budget *budget, const void *data, size_t size,
    uint64_t at, uint64_t *first)
{
	uint64_t hash[2];

	if (set->count * 2 >= set->room && grow(set) < 0)
		return DISTINCT_FULL;
	hash_value(budget, data, size, hash);
	struct distinct_entry *entry = find(set->entries, set->room, hash);
	if ((entry->hash[0] | entry->hash[1]) != 0) {
		*first = entry->at;
		return DISTINCT_KNOWN;
	}
	if (budget->left == 0)
		return DISTINCT_FULL;
	budget->left--;
	set->count++;
	*entry = (struct distinct_entry){ { hash[0], hash[1] }, at };
	return DISTINCT_NEW;
}

bool
distinct_has(
    const struct distinct *set, const struct distinct_budget *budget, const void *data, size_t size)
{
	uint64_t hash[2];

	if (set->room == 0)
		return false;
	hash_value(budget, data, size, hash);
	const struct distinct_entry *entry = find(set->entries, set->room, hash);
	return (entry->hash[0] | entry->hash[1]) != 0;
}

void
distinct_close(struct distinct *set)
{
	free(set->entries);
	*set = (struct distinct){ 0 };
}
