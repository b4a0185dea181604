/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - stores bytes up to the limit; after that, the second half of the buffer is a ring.
 *
 * The stream may have any length: memory is bounded by the limit, and work is linear in the input.
 */
#include "executor/sandbox/capture.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <string.h>

enum {
	FIRST_SIZE = 4096,
};

static uint64_t
front(const struct capture *c)
{
	return c->limit - c->limit / 2;
}

static int
grow(struct capture *c, size_t need)
{
	size_t size = c->size < FIRST_SIZE ? FIRST_SIZE : c->size;

	while (size < need)
		size *= 2;
	if (size > c->limit)
		size = c->limit;
	if (size <= c->size)
		return 0;

	void *data = realloc(c->data, size);

	if (data == NULL)
		return -1;
	c->data = data;
	c->size = size;
	return 0;
}

/* Only the last bytes are kept; earlier ones would be overwritten. */
static void
add_to_ring(struct capture *c, const uint8_t *data, size_t size)
{
	size_t ring = c->limit / 2;

	if (size > ring) {
		c->total += size - ring;
		data += size - ring;
		size = ring;
	}
	while (size > 0) {
		size_t at = (c->total - front(c)) % ring;
		size_t part = size < ring - at ? size : ring - at;

		memcpy(c->data + front(c) + at, data, part);
		c->total += part;
		data += part;
		size -= part;
	}
}

int
capture_add(struct capture *c, const void *data, size_t size)
{
	uint64_t room = c->total < c->limit ? c->limit - c->total : 0;
	size_t plain = size < room ? size : room;

	if (plain > 0) {
		if (grow(c, c->total + plain) < 0)
			return -1;
		memcpy(c->data + c->total, data, plain);
		c->total += plain;
	}
	if (size > plain)
		add_to_ring(c, (const uint8_t *)data + plain, size - plain);
	return 0;
}

uint64_t
capture_take(struct capture *c, struct blob *out)
{
	size_t ring = c->limit / 2;
	size_t at = ring > 0 && c->total > c->limit ? (c->total - front(c)) % ring : 0;
	uint64_t dropped = c->total > c->limit ? c->total - c->limit : 0;
	uint8_t *turned = at > 0 ? malloc(ring) : NULL;

	if (turned != NULL) {
		memcpy(turned, c->data + front(c) + at, ring - at);
		memcpy(turned + ring - at, c->data + front(c), at);
		memcpy(c->data + front(c), turned, ring);
		free(turned);
	}
	*out = (struct blob){ take_ptr(c->data), c->total - dropped };
	if (out->data == NULL)
		*out = blob_copy("", 0);
	capture_clear(c);
	return dropped;
}

void
capture_clear(struct capture *c)
{
	free(c->data);
	*c = (struct capture){ .limit = c->limit };
}
