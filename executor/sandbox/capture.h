/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - the first and the last bytes of a stream, however long that is. */
#pragma once

#include "common/table/schema.h"

struct capture {
	uint8_t *data;
	size_t size;    /* of data */
	uint64_t limit; /* bytes kept: half from the front, half from the end */
	uint64_t total; /* bytes that came */
};

/* -1 with errno ENOMEM: kept as if they had not come. */
int capture_add(struct capture *, const void *data, size_t size);
/* Gives away what was kept, in order; how many bytes in the middle were not. */
uint64_t capture_take(struct capture *, struct blob *);
void capture_clear(struct capture *);
