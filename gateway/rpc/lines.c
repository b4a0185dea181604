/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - splits at newlines; trusts nothing, and buffers at most one line and one read. */
#include "gateway/rpc/lines.h"

#include <stdlib.h>
#include <string.h>

enum {
	READ_BYTES = 65536,  /* space for each read */
	KEEP_BYTES = 262144, /* a larger buffer is freed once it is empty */
};

static bool
grow(struct lines *l)
{
	size_t most = l->limit + READ_BYTES, room = l->room == 0 ? READ_BYTES : l->room * 2;

	if (room > most)
		room = most;

	char *data = realloc(l->data, room);

	if (data == NULL)
		return false;
	l->data = data;
	l->room = room;
	return true;
}

static void
skip(struct lines *l)
{
	l->skipping = true;
	l->start = l->looked = l->used = 0;
}

char *
lines_room(struct lines *l, size_t *room)
{
	if (l->start > 0) {
		memmove(l->data, l->data + l->start, l->used - l->start);
		l->used -= l->start;
		l->looked -= l->start;
		l->start = 0;
	}
	if (l->room - l->used < READ_BYTES / 2 && l->room < l->limit + READ_BYTES && !grow(l)) {
		if (l->room == 0)
			return NULL;
		skip(l); /* no memory for a line of this length: treat it as too long */
	}
	*room = l->room - l->used;
	return l->data + l->used;
}

void
lines_filled(struct lines *l, size_t size)
{
	l->used += size;
}

/* The line is data[start, end); the next one begins after the newline, if there is one. */
static void
cut(struct lines *l, size_t end, struct line *line)
{
	*line = (struct line){ .data = l->data + l->start,
		.size = end - l->start,
		.limit = l->limit,
		.over = l->skipping || end - l->start > l->limit,
		.scan = &l->scan };
	l->start = l->looked = end < l->used ? end + 1 : end;
	l->skipping = false;
	l->told = true;
}

static void
give_back(struct lines *l)
{
	if (l->start < l->used || l->room <= KEEP_BYTES)
		return;
	free(l->data);
	l->data = NULL;
	l->room = l->start = l->looked = l->used = 0;
}

bool
lines_next(struct lines *l, struct line *line)
{
	if (l->told)
		scan_reset(&l->scan);
	l->told = false;
	if (l->looked == l->used) {
		give_back(l);
		return false;
	}

	const char *newline = memchr(l->data + l->looked, '\n', l->used - l->looked);
	size_t end = newline == NULL ? l->used : (size_t)(newline - l->data);

	scan_feed(&l->scan, l->data + l->looked, end - l->looked);
	l->looked = end;
	if (newline != NULL) {
		cut(l, end, line);
		return true;
	}
	if (l->used - l->start > l->limit || l->skipping)
		skip(l);
	return false;
}

bool
lines_last(struct lines *l, struct line *line)
{
	if (l->start == l->used && !l->skipping)
		return false;
	cut(l, l->used, line);
	return true;
}

void
lines_free(struct lines *l)
{
	free(l->data);
	*l = (struct lines){ .limit = l->limit };
}
