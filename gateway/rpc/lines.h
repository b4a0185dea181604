/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - splits a byte stream into lines of bounded length.
 *
 * A line over the limit is skipped to its end in constant memory and is still reported, once.
 */
#pragma once

#include "gateway/rpc/scan.h"

struct lines {
	size_t limit; /* bytes of a line; set by the owner of a zeroed struct */
	char *data;
	size_t room, start, looked, used; /* data[start, used) is buffered, up to looked scanned */
	bool skipping;
	bool told; /* scan belongs to the line that was reported last */
	struct scan scan;
};

struct line {
	const char *data; /* valid, like scan, until the next lines_ call */
	size_t size;
	size_t limit; /* maximum size of the line */
	bool over;    /* too long; only scan is valid */
	const struct scan *scan;
};

/* Returns where to put the next bytes, and sets *room to the space there; NULL: no memory. */
char *lines_room(struct lines *, size_t *room);
/* Call after `size` bytes were put there. */
void lines_filled(struct lines *, size_t size);
/* Returns the next whole line, without its newline; false: no whole line is buffered. */
bool lines_next(struct lines *, struct line *);
/* Call at the end of the stream: returns the rest as a line; false: nothing is left. */
bool lines_last(struct lines *, struct line *);
void lines_free(struct lines *);
