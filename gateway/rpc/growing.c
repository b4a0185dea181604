/* SPDX-License-Identifier: Apache-2.0 */
/* growing.c - grows by half, so that a text of many pieces is not copied for each piece. */
#include "gateway/rpc/growing.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAST = 256,
};

int
growing_add(const char *data, size_t size, void *growing)
{
	struct growing *g = growing;

	if (size > g->limit - g->size)
		return -1;
	if (g->size + size > g->room) {
		size_t room = (g->size + size) * 3 / 2 + LEAST;
		char *grown = realloc(g->data, room);

		if (grown == NULL)
			return -1;
		g->data = grown;
		g->room = room;
	}
	memcpy(g->data + g->size, data, size);
	g->size += size;
	return 0;
}
