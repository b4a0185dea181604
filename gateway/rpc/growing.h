/* SPDX-License-Identifier: Apache-2.0 */
/* growing.h - collects bytes that arrive in pieces into one buffer from malloc. */
#pragma once

#include <stddef.h>

struct growing {
	char *data; /* NULL while it is empty; the owner frees it */
	size_t size, room, limit;
};

/* 0, or -1: no memory, or it would exceed its limit; then it is unchanged.  growing is a struct
 * growing, so that this function can be passed to write_json(). */
int growing_add(const char *data, size_t size, void *growing);
