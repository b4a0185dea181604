/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - keeps the first and the last bytes of a stream of any length. */
#pragma once

#include "common/table/schema.h"

struct capture {
	uint8_t *data;
	size_t size;    /* of data */
	uint64_t limit; /* bytes kept: half from the front, half from the end */
	uint64_t total; /* bytes received */
};

/* -1 with errno ENOMEM: the bytes are counted as not received. */
int capture_add(struct capture *, const void *data, size_t size);
/* Moves the kept bytes to the blob, in order; returns how many bytes in the middle were dropped. */
uint64_t capture_take(struct capture *, struct blob *);
void capture_clear(struct capture *);
