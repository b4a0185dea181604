/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that is released all at once, for what lives as long as a plan. */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

struct arena {
	struct arena_block *blocks;
};

/* Zeroed memory; never NULL: what a caller can ask for is bounded by the size of its schema. */
void *arena_take(struct arena *, size_t size);
char *arena_text(struct arena *, const char *text, size_t size);
char *arena_print(struct arena *, const char *fmt, ...) PRINTF(2, 3);
void arena_free(struct arena *);
