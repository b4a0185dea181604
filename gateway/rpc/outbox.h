/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox.h - messages on their way to a client that reads as it likes.
 *
 * Bounded: a message that would not fit is not taken at all.  Never waits.
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
	struct outbox_block *first, *last; /* NULL: nothing waits */
	/* The first of them while nothing waits before it: most answers are made and gone in it. */
	struct outbox_block own;
	char room[65536];
};

/* Adds the message as a line; limit_exceeded where more than limit bytes would wait then. */
int outbox_add(struct outbox *, const json_t *message, size_t limit, struct err *);
/*
 * Writes what the descriptor takes now: write(2), or send(2) for a socket, whose file description
 * need not be non-blocking then.  -1 with errno: the reader is gone.
 */
int outbox_write(struct outbox *, int fd, bool socket);
void outbox_clear(struct outbox *);
