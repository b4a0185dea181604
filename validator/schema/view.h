/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a JSON value as the walk reads it: its parts side by side in memory, with what rules ask
 * for at hand. Jansson has each part behind a call and a pointer.
 */
#pragma once

#include "validator/schema/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct view {
	const json_t *json; /* NULL: the name of a member, which is a text */
	union {
		const char *text;
		const struct view *items;
		const struct view_members *members;
		double number;
	};
	uint32_t count;       /* bytes, items or members */
	uint8_t types;        /* VALUE_... */
	uint8_t strict_types; /* the same where 1.0 is no integer */
	bool is_short;        /* the number is `number`, digit for digit */
};

struct view_member {
	const char *key;
	uint64_t hash;
	uint32_t size;
	struct view value;
};

struct view_members {
	uint64_t names; /* view_bit() of each: a name whose bit is not set is not there */
	struct view_member all[];
};

static inline uint64_t
view_bit(uint64_t hash)
{
	return UINT64_C(1) << (hash >> 58);
}

/* The memory is the arena's; the value must live as long. */
void view_read(struct view *, struct arena *, const json_t *);
/* The name of a member as a value. */
struct view view_name(const char *key, size_t size);
/* As value_equal(). */
bool view_equal(const struct view *, const struct view *);
/* Has the object such a member?  hash: map_hash() of the key. */
bool view_has(const struct view *, const char *key, size_t size, uint64_t hash);
