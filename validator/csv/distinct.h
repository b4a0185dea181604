/* SPDX-License-Identifier: Apache-2.0 */
/* distinct.h - sets of cells without zero bytes, by a keyed hash of 128 bits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds all sets of a check together. */
struct distinct_budget {
	size_t left; /* entries */
	uint8_t key[16];
	uint64_t secrets[2];
};

struct distinct {
	struct distinct_entry *entries;
	size_t count, room;
};

enum distinct_result {
	DISTINCT_NEW,
	DISTINCT_KNOWN,
	DISTINCT_FULL, /* the budget is used up or memory is short */
};

void distinct_begin(struct distinct_budget *, size_t entries);
/* *first: where a known value was first added; at: where this one is. */
enum distinct_result distinct_add(struct distinct *, struct distinct_budget *, const void *data,
    size_t size, uint64_t at, uint64_t *first);
/* Is the value in the set? */
bool distinct_has(
    const struct distinct *, const struct distinct_budget *, const void *data, size_t size);
void distinct_close(struct distinct *);
