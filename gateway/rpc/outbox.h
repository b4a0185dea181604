/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox.h - messages to a client that may read slowly.
 *
 * Memory is bounded: a message that would not fit is not added at all.  No call blocks.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct outbox_block {
	struct outbox_block *next;
	size_t start, end, room; /* data[start, end) waits */
	char *data;
};

struct outbox {
	size_t bytes;                      /* waiting */
	size_t limit;                      /* of the message being added */
	struct outbox_block *first, *last; /* NULL: empty */
	/* The first block while nothing waits before it: most replies need no other. */
	struct outbox_block own;
	char room[65536];
};

/* Adds the message as a line; limit_exceeded if more than limit bytes would wait then. */
int outbox_add(struct outbox *, const json_t *message, size_t limit, struct err *);
/*
 * Writes as much as the descriptor takes now: write(2), or send(2) for a socket, whose file
 * description then need not be non-blocking.  -1 with errno: the reader is gone.
 */
int outbox_write(struct outbox *, int fd, bool socket);
void outbox_clear(struct outbox *);
