/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - blocks that grow with the plan; trusts its callers to bound what they take. */
#include "validator/schema/arena.h"

#include "common/base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 8 << 10,
};

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	_Alignas(16) char data[];
};

void *
arena_take(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	size_t rounded = (size + 15) & ~(size_t)15;

	if (block == NULL || block->size - block->used < rounded) {
		size_t room = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;

		block = calloc(1, sizeof *block + room);
		must(block != NULL);
		block->size = room;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	block->used += rounded;
	return block->data + block->used - rounded;
}

char *
arena_text(struct arena *arena, const char *text, size_t size)
{
	char *copy = arena_take(arena, size + 1);

	memcpy(copy, text, size);
	return copy;
}

char *
arena_print(struct arena *arena, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int size = vsnprintf(NULL, 0, fmt, ap);
	must(size >= 0);
	char *text = arena_take(arena, (size_t)size + 1);
	vsnprintf(text, (size_t)size + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return text;
}

void
arena_free(struct arena *arena)
{
	for (struct arena_block *block = arena->blocks, *next; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	arena->blocks = NULL;
}
