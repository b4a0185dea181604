/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - a byte stream cut into lines, each of bounded length.
 *
 * A line over the limit is skipped to its end in constant memory and still reported, once.
 */
#pragma once

#include "gateway/rpc/scan.h"

struct lines {
	size_t limit; /* bytes of a line; set by the owner of a zeroed struct */
	char *data;
	size_t room, start, looked, used; /* data[start, used) is there, up to looked scanned */
	bool skipping;
	bool told; /* scan is of the line that was told last */
	struct scan scan;
};

struct line {
	const char *data; /* as scan until the next lines_ call */
	size_t size;
	size_t limit; /* bytes it might have had */
	bool over;    /* too long; only scan is known of it */
	const struct scan *scan;
};

/* Where the next bytes go, and how many may; NULL when memory ran out. */
char *lines_room(struct lines *, size_t *room);
/* That many were put there. */
void lines_filled(struct lines *, size_t size);
/* The next whole line, without its end; false: there is none yet. */
bool lines_next(struct lines *, struct line *);
/* The stream has ended: what is left is a line; false: nothing is. */
bool lines_last(struct lines *, struct line *);
void lines_free(struct lines *);
