/* SPDX-License-Identifier: Apache-2.0 */
/* similar.h - the name that was meant, if another one is near it. */
#pragma once

#include <stddef.h>

struct similar {
	const char *name, *best; /* best: NULL, none is near */
	size_t distance;         /* only what is nearer than this is taken */
};

/* Takes a third of the name for wrong at most. */
struct similar similar_to(const char *name);
/* Takes the other name if it is nearer than those before. */
void similar_consider(struct similar *, const char *other);
