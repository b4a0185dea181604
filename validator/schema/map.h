/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - from bytes to a pointer; a zeroed map is empty, and its memory is the arena's. */
#pragma once

#include "validator/schema/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct map_entry {
	const char *key; /* borrowed */
	size_t size;
	uint64_t hash;
	void *value; /* NULL: a free entry */
};

struct map {
	struct map_entry *entries;
	size_t room, count; /* room: a power of two */
};

/* Do so many bytes, which end there, differ?  Those before have been compared, so they may overlap.
 */
#define MAP_DIFFER(type, a, b) \
	({ \
		type x, y; \
		memcpy(&x, a, sizeof x); \
		memcpy(&y, b, sizeof y); \
		x != y; \
	})

/* memcmp() == 0, without a call: keys are short. */
static inline bool
map_same(const char *a, const char *b, size_t size)
{
	size_t i = 0;

	if (size < sizeof(uint32_t)) {
		for (; i < size; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}
	if (size < sizeof(uint64_t))
		return !MAP_DIFFER(uint32_t, a, b) &&
		       !MAP_DIFFER(uint32_t, a + size - 4, b + size - 4);
	for (; size - i > sizeof(uint64_t); i += sizeof(uint64_t))
		if (MAP_DIFFER(uint64_t, a + i, b + i))
			return false;
	return !MAP_DIFFER(uint64_t, a + size - 8, b + size - 8);
}

uint64_t map_hash(const char *key, size_t size);

/* The entry of a key, or the free one where it belongs; the map has room. */
static inline struct map_entry *
map_entry(const struct map *map, const char *key, size_t size, uint64_t hash)
{
	size_t at = hash & (map->room - 1);

	for (;; at = (at + 1) & (map->room - 1)) {
		struct map_entry *entry = &map->entries[at];

		if (entry->value == NULL ||
		    (entry->hash == hash && entry->size == size && map_same(entry->key, key, size)))
			return entry;
	}
}

/* With the hash of the key, if that is known. */
static inline void *
map_find(const struct map *map, const char *key, size_t size, uint64_t hash)
{
	return map->count == 0 ? NULL : map_entry(map, key, size, hash)->value;
}

void *map_get(const struct map *, const char *key, size_t size);
/* The key must live as long as the map.  The first value of a key stays. */
void map_put(struct map *, struct arena *, const char *key, size_t size, void *value);
/* The same with the address as key, which an arena copies. */
void *map_at(const struct map *, const void *address);
void map_mark(struct map *, struct arena *, const void *address, void *value);
