/* SPDX-License-Identifier: Apache-2.0 */
/* growing.h - bytes that come piece by piece and become one piece of malloc. */
#pragma once

#include <stddef.h>

struct growing {
	char *data; /* NULL as long as it is empty; the owner frees it */
	size_t size, room, limit;
};

/* 0, or -1: no memory, or it would be over its limit; then it is as it was.  growing: a struct
 * growing, so that write_json() can be given this. */
int growing_add(const char *data, size_t size, void *growing);
