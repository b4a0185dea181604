/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_flat.c - a packed message as a file: the number of its frames, their sizes, their bytes.
 *
 * All numbers have 64 bits in the byte order of this machine. A file that is read is not trusted.
 */
#include "common/codec/wire.h"

#include "common/base/auto.h"

#include <stdlib.h>
#include <string.h>

/* Part i: the body, or a frame. */
static const struct blob *
part(const struct packed *p, size_t i)
{
	return i == 0 ? &p->body : &p->blobs[i - 1];
}

int
wire_flatten(const struct packed *p, struct blob *bytes, struct err *e)
{
	uint64_t count = p->count;
	size_t size = (count + 2) * sizeof count;

	for (size_t i = 0; i <= p->count; i++)
		size += part(p, i)->size;

	char *to = malloc(size);

	if (to == NULL)
		return err_sys(e, "flatten a message");
	*bytes = (struct blob){ to, size };
	to = mempcpy(to, &count, sizeof count);
	for (size_t i = 0; i <= p->count; i++)
		to = mempcpy(to, &(uint64_t){ part(p, i)->size }, sizeof count);
	for (size_t i = 0; i <= p->count; i++)
		if (part(p, i)->size > 0)
			to = mempcpy(to, part(p, i)->data, part(p, i)->size);
	return 0;
}

struct rest {
	const char *data;
	size_t size;
};

static int
malformed(struct err *e)
{
	return err_set(e, ERR_invalid_argument, "not a flattened message");
}

static int
read_number(struct rest *rest, uint64_t *number, struct err *e)
{
	if (rest->size < sizeof *number)
		return malformed(e);
	memcpy(number, rest->data, sizeof *number);
	rest->data += sizeof *number;
	rest->size -= sizeof *number;
	return 0;
}

static int
read_bytes(struct rest *rest, uint64_t size, struct blob *to, struct err *e)
{
	if (size > rest->size)
		return malformed(e);
	*to = blob_copy(rest->data, (size_t)size);
	if (to->data == NULL)
		return err_sys(e, "read a flattened message");
	rest->data += size;
	rest->size -= (size_t)size;
	return 0;
}

static int
read_all(struct rest *sizes, struct rest *rest, struct packed *p, struct err *e)
{
	uint64_t size = 0; /* gcc 14 does not see that read_number() sets it */

	for (size_t i = 0; i <= p->count; i++)
		if (read_number(sizes, &size, e) < 0 ||
		    read_bytes(rest, size, i == 0 ? &p->body : &p->blobs[i - 1], e) < 0)
			return -1;
	return rest->size == 0 ? 0 : malformed(e);
}

int
wire_raise(const struct blob *bytes, struct packed *p, struct err *e)
{
	struct rest rest = { bytes->data, bytes->size };
	uint64_t count;

	*p = (struct packed){ 0 };
	if (read_number(&rest, &count, e) < 0)
		return -1;
	if (count > WIRE_MAX_BLOBS || rest.size < (count + 1) * sizeof count)
		return malformed(e);

	struct rest sizes = rest;

	rest.data += (count + 1) * sizeof count;
	rest.size -= (count + 1) * sizeof count;
	p->blobs = calloc(count + 1, sizeof *p->blobs);
	if (p->blobs == NULL)
		return err_sys(e, "read a flattened message");
	p->count = (size_t)count;
	if (read_all(&sizes, &rest, p, e) == 0)
		return 0;
	packed_clear(p);
	return -1;
}
