/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c - keeps the small allocations of JSON values for the next message.
 *
 * A call needs two hundred of them, and frees them all when it is answered.  malloc caches seven
 * of a size, and takes its slow path for all others.  The pieces kept here come from malloc, and
 * are in lists by usable size; their number is bounded.  Only one thread, that of the loop, keeps
 * pieces.  It may free pieces that other threads made.  Pieces that other threads free go back to
 * malloc, because those threads end.
 */
#include "gateway/rpc/pieces.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	LEAST = 24, /* bytes of glibc's smallest allocation */
	STEP = 16,  /* between adjacent sizes of glibc */
	SIZES = 8,
	KEPT = 256, /* of a size */
};

struct piece {
	struct piece *next;
};

/* Entry `at` holds pieces of at least LEAST + at * STEP bytes. */
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
	/* After a pause the next piece is in no CPU cache; the prefetch loads it before it is
	 * taken. */
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
