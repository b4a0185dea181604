/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox.h - queues messages for a client that may read slowly.
 *
 * Memory is bounded: a message that does not fit is refused as a whole.  No call blocks.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct outbox_block {
	struct outbox_block *next;
	size_t start, end, room; /* data[start, end) is not written yet */
	char *data;
};

struct outbox {
	size_t bytes;                      /* queued */
	size_t limit;                      /* of the message being added */
	struct outbox_block *first, *last; /* NULL: empty */
	/* The first block while the queue is empty: most replies need no other. */
	struct outbox_block own;
	char room[65536];
};

/* Adds the message as a line; limit_exceeded if more than limit bytes would then be queued. */
int outbox_add(struct outbox *, const json_t *message, size_t limit, struct err *);
/*
 * Writes as much as the descriptor accepts now: write(2), or send(2) for a socket, so that the
 * file description of a socket need not be non-blocking.  -1 with errno: the reader has closed the
 * stream.
 */
int outbox_write(struct outbox *, int fd, bool socket);
void outbox_clear(struct outbox *);
