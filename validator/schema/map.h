/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - from bytes to a pointer; a zeroed map is empty, and its memory is the arena's. */
#pragma once

#include "validator/schema/arena.h"

#include <stddef.h>
#include <stdint.h>

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

void *map_get(const struct map *, const char *key, size_t size);
/* The key must live as long as the map.  The first value of a key stays. */
void map_put(struct map *, struct arena *, const char *key, size_t size, void *value);
/* The same with the address as key, which an arena copies. */
void *map_at(const struct map *, const void *address);
void map_mark(struct map *, struct arena *, const void *address, void *value);
