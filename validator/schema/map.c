/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - a hash table with linear probing.
 *
 * Keys come from schemas and instances, whose authors may choose them so that they collide: the
 * hash begins with a number that they do not know.
 */
#include "validator/schema/map.h"

#include <sodium.h>
#include <string.h>

static uint64_t
seed(void)
{
	static uint64_t value;

	if (value == 0)
		randombytes_buf(&value, sizeof value);
	return value;
}

uint64_t
map_hash(const char *data, size_t size)
{
	uint64_t hash = seed() ^ size, word;

	for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
		memcpy(&word, data, sizeof word);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	word = 0;
	for (size_t i = 0; i < size; i++)
		word = word << 8 | (unsigned char)data[i];
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

void *
map_get(const struct map *map, const char *key, size_t size)
{
	return map_find(map, key, size, map->count == 0 ? 0 : map_hash(key, size));
}

static void
grow(struct map *map, struct arena *arena)
{
	struct map larger = { .room = map->room > 0 ? 2 * map->room : 8, .count = map->count };

	larger.entries = arena_take(arena, larger.room * sizeof *larger.entries);
	for (size_t i = 0; i < map->room; i++) {
		const struct map_entry *old = &map->entries[i];

		if (old->value != NULL)
			*map_entry(&larger, old->key, old->size, old->hash) = *old;
	}
	*map = larger;
}

void
map_put(struct map *map, struct arena *arena, const char *key, size_t size, void *value)
{
	uint64_t hash = map_hash(key, size);

	if (2 * (map->count + 1) > map->room)
		grow(map, arena);
	struct map_entry *entry = map_entry(map, key, size, hash);
	if (entry->value != NULL)
		return;
	*entry = (struct map_entry){ key, size, hash, value };
	map->count++;
}

void *
map_at(const struct map *map, const void *address)
{
	return map_get(map, (const char *)&address, sizeof address);
}

void
map_mark(struct map *map, struct arena *arena, const void *address, void *value)
{
	map_put(map, arena, arena_text(arena, (const char *)&address, sizeof address),
	    sizeof address, value);
}
