/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox.c - a list of blocks into which messages are written as JSON text, without a copy.
 *
 * Small messages share a block and so a write(2); a large message never needs contiguous memory.
 */
#include "gateway/rpc/outbox.h"

#include "gateway/rpc/write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	MORE_BYTES = 1048576 - 64, /* mapped on its own, so that free() returns it to the kernel */
};

static struct outbox_block *
add_block(struct outbox *box)
{
	struct outbox_block *block = &box->own;

	if (box->last == NULL) {
		*block = (struct outbox_block){ .room = sizeof box->room, .data = box->room };
		return box->first = box->last = block;
	}
	block = malloc(sizeof *block + MORE_BYTES);
	if (block == NULL)
		return NULL;
	*block = (struct outbox_block){ .room = MORE_BYTES, .data = (char *)(block + 1) };
	return box->last = box->last->next = block;
}

static int
append(const char *data, size_t size, void *self)
{
	struct outbox *box = self;

	if (box->bytes + size > box->limit)
		return -1;
	box->bytes += size;
	while (size > 0) {
		struct outbox_block *block = box->last;

		if ((block == NULL || block->end == block->room) &&
		    (block = add_block(box)) == NULL)
			return -1;
		size_t left = block->room - block->end, n = left < size ? left : size;
		memcpy(block->data + block->end, data, n);
		block->end += n;
		data += n;
		size -= n;
	}
	return 0;
}

static void
free_blocks(struct outbox *box, struct outbox_block *block)
{
	while (block != NULL) {
		struct outbox_block *next = block->next;

		if (block != &box->own)
			free(block);
		block = next;
	}
}

/* Restores the state in which `last` ended at `end`: no part of a message may stay. */
static void
roll_back(struct outbox *box, struct outbox_block *last, size_t end, size_t bytes)
{
	if (last == NULL) {
		outbox_clear(box);
		return;
	}
	free_blocks(box, last->next);
	last->next = NULL;
	last->end = end;
	box->last = last;
	box->bytes = bytes;
}

int
outbox_add(struct outbox *box, const json_t *message, size_t limit, struct err *e)
{
	struct outbox_block *last = box->last;
	size_t end = last == NULL ? 0 : last->end, bytes = box->bytes;

	box->limit = limit;
	if (write_json(message, append, box) == 0 && append("\n", 1, box) == 0)
		return 0;
	roll_back(box, last, end, bytes);
	return err_set(e, ERR_limit_exceeded,
	    "the reply does not fit: %zu bytes are unread, the limit is %zu (max_output_bytes)",
	    bytes, limit);
}

int
outbox_write(struct outbox *box, int fd, bool socket)
{
	for (struct outbox_block *block; (block = box->first) != NULL;) {
		const char *data = block->data + block->start;
		size_t size = block->end - block->start;
		ssize_t n = socket ? send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL)
		                   : write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
		block->start += (size_t)n;
		box->bytes -= (size_t)n;
		if (block->start < block->end)
			continue;
		box->first = block->next;
		if (box->first == NULL)
			box->last = NULL;
		block->next = NULL;
		free_blocks(box, block);
	}
	return 0;
}

void
outbox_clear(struct outbox *box)
{
	free_blocks(box, box->first);
	box->first = box->last = NULL;
	box->bytes = 0;
}
