/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c - the small pieces that JSON values are made of, kept for the next message.
 *
 * A call takes two hundred of them, and all are gone when it is answered.  malloc has seven of a
 * size at hand, and goes the long way for each of the others.  Those that are kept are malloc's
 * own, in lists by what fits into them; how many is bounded.  One thread keeps them, the loop's:
 * what others made it may free, and what they free is malloc's, for they end.
 */
#include "gateway/rpc/pieces.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	LEAST = 24, /* bytes of the smallest piece that glibc makes */
	STEP = 16,  /* between one size of glibc's and the next */
	SIZES = 8,
	KEPT = 256, /* of a size */
};

struct piece {
	struct piece *next;
};

/* At each place pieces of at least LEAST + place * STEP bytes. */
static struct {
	struct piece *first;
	size_t count;
} kept[SIZES];

static _Thread_local bool keeps;

static void *
take(size_t size)
{
	size_t at = size <= LEAST ? 0 : (size - LEAST + STEP - 1) / STEP;

	if (!keeps || at >= SIZES || kept[at].first == NULL)
		return malloc(size);

	struct piece *piece = kept[at].first;

	kept[at].first = piece->next;
	kept[at].count--;
	/* After a pause it is in no cache any more; by the time that it is taken it is. */
	__builtin_prefetch(kept[at].first, 1);
	return piece;
}

static void
give(void *data)
{
	size_t size = malloc_usable_size(data), at = size < LEAST ? SIZES : (size - LEAST) / STEP;
	struct piece *piece = data;

	if (!keeps || at >= SIZES || kept[at].count == KEPT) {
		free(data);
		return;
	}
	piece->next = kept[at].first;
	kept[at].first = piece;
	kept[at].count++;
}

void
pieces_open(void)
{
	keeps = true;
	json_set_alloc_funcs(take, give);
}
