/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.c - writes, parses and verifies chained records.
 *
 * Trusts no byte of a file: every link is checked before it is passed to the caller.
 */
#include "common/journal/chain.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct head {
	char magic[4];
	uint32_t size;
	uint64_t number, time_ms, durable;
	uint8_t previous[HASH_BYTES];
};

_Static_assert(sizeof(struct head) == 64, "the head of a link has no holes");

static const char magic[4] = "CLR1";

enum { WINDOW = 1 << 20 };

/* A part of a file in memory, as large as the largest link, at any offset. */
struct window {
	int fd;
	uint8_t *data;
	uint64_t start, have, file_size;
};

/* ---- writing ---- */

static int
make_room(struct chain_buffer *buffer, size_t more, struct err *e)
{
	if (buffer->room - buffer->size >= more)
		return 0;

	size_t room = (buffer->size + more) * 2;
	uint8_t *data = realloc(buffer->data, room);

	if (data == NULL)
		return err_sys(e, "chain: %zu bytes", room);
	buffer->data = data;
	buffer->room = room;
	return 0;
}

static void
seal(const void *link, size_t size, uint8_t digest[HASH_BYTES])
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, link, size);
	hash_end(&hash, digest);
}

int
chain_add(struct chain_buffer *buffer, struct chain_end *end, uint64_t durable, const void *record,
    size_t size, struct err *e)
{
	must(size <= CHAIN_RECORD_MAX);
	if (make_room(buffer, sizeof(struct head) + size + HASH_BYTES, e) < 0)
		return -1;

	uint8_t *link = buffer->data + buffer->size;
	struct head head = {
		.size = htole32((uint32_t)size),
		.number = htole64(end->number + 1),
		.time_ms = htole64(timestamp_ms()),
		.durable = htole64(durable),
	};

	memcpy(head.magic, magic, sizeof(magic));
	memcpy(head.previous, end->seal, HASH_BYTES);
	memcpy(link, &head, sizeof(head));
	memcpy(link + sizeof(head), record, size);
	end->number++;
	seal(link, sizeof(head) + size, end->seal);
	memcpy(link + sizeof(head) + size, end->seal, HASH_BYTES);
	buffer->size += sizeof(head) + size + HASH_BYTES;
	return 0;
}

void
chain_buffer_clear(struct chain_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct chain_buffer){ 0 };
}

/* ---- reading ---- */

ssize_t
chain_parse(const uint8_t *data, size_t size, struct chain_link *link)
{
	struct head head;
	uint8_t digest[HASH_BYTES];

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));

	size_t record_size = le32toh(head.size);
	size_t link_size = sizeof(head) + record_size + HASH_BYTES;

	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || record_size > CHAIN_RECORD_MAX)
		return -1;
	if (size < link_size)
		return 0;
	seal(data, sizeof(head) + record_size, digest);
	if (memcmp(digest, data + sizeof(head) + record_size, HASH_BYTES) != 0)
		return -1;
	*link = (struct chain_link){
		.number = le64toh(head.number),
		.time_ms = le64toh(head.time_ms),
		.durable = le64toh(head.durable),
		.previous = data + offsetof(struct head, previous),
		.record = data + sizeof(head),
		.size = record_size,
		.seal = data + sizeof(head) + record_size,
	};
	return (ssize_t)link_size;
}

bool
chain_follows(const struct chain_end *end, const struct chain_link *link)
{
	return link->number == end->number + 1 &&
	       memcmp(link->previous, end->seal, HASH_BYTES) == 0;
}

static int
fill(struct window *w, uint64_t offset, uint64_t need, struct err *e)
{
	w->start = offset;
	w->have = 0;
	while (w->have < need) {
		ssize_t n =
		    pread(w->fd, w->data + w->have, WINDOW - w->have, (off_t)(offset + w->have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read at byte %" PRIu64, offset + w->have);
		if (n == 0)
			return err_set(e, ERR_internal, "the file was truncated");
		w->have += (uint64_t)n;
	}
	return 0;
}

/* The data at offset: *have bytes, CHAIN_LINK_MAX or more unless the file ends; NULL with *e. */
static const uint8_t *
look_at(struct window *w, uint64_t offset, size_t *have, struct err *e)
{
	uint64_t left = w->file_size - offset;
	uint64_t need = left < CHAIN_LINK_MAX ? left : CHAIN_LINK_MAX;

	if ((offset < w->start || offset + need > w->start + w->have) &&
	    fill(w, offset, need, e) < 0)
		return NULL;
	*have = w->start + w->have - offset;
	return w->data + (offset - w->start);
}

/* The next offset, from *offset on, at which a link may start; the end of the file if there is
 * none. */
static int
find_magic(struct window *w, uint64_t *offset, struct err *e)
{
	while (*offset < w->file_size) {
		size_t have;
		const uint8_t *data = look_at(w, *offset, &have, e);
		const uint8_t *found =
		    data == NULL ? NULL : memmem(data, have, magic, sizeof(magic));

		if (data == NULL)
			return -1;
		if (found != NULL) {
			*offset += (uint64_t)(found - data);
			return 0;
		}
		/* The magic may cross the end of this window. */
		*offset += have < sizeof(magic) ? have : have - sizeof(magic) + 1;
	}
	return 0;
}

/*
 * After a power loss any recently written page may be missing while a later page is present, so
 * whole links may follow a bad place.  A bad place is a torn tail unless a later link proves
 * otherwise: one that was added when record `number` was durable.
 */
static int
find_proof(struct window *w, uint64_t offset, uint64_t number, struct err *e)
{
	for (;; offset++) {
		struct chain_link link;
		size_t have;

		if (find_magic(w, &offset, e) < 0)
			return -1;
		if (offset >= w->file_size)
			return 0;

		const uint8_t *data = look_at(w, offset, &have, e);

		if (data == NULL)
			return -1;
		if (chain_parse(data, have, &link) > 0 && link.durable >= number)
			return err_set(e, ERR_internal,
			    "record %" PRIu64 " is damaged; record %" PRIu64
			    " after it, at byte %" PRIu64 ", shows that it was durable",
			    number, link.number, offset);
	}
}

/* Passes the links to each(), as long as they are whole and follow each other. */
static int
follow(struct chain_walk *walk, struct window *w, struct err *e)
{
	while (walk->offset < w->file_size) {
		struct chain_link link;
		size_t have;
		const uint8_t *data = look_at(w, walk->offset, &have, e);

		if (data == NULL)
			return -1;

		ssize_t size = chain_parse(data, have, &link);

		if (size <= 0)
			break;
		if (!chain_follows(&walk->end, &link) && !(walk->from_middle && walk->offset == 0))
			break;
		if (walk->each != NULL && walk->each(walk->self, &link, walk->offset, e) < 0)
			return -1;
		walk->end.number = link.number;
		memcpy(walk->end.seal, link.seal, HASH_BYTES);
		walk->offset += (uint64_t)size;
	}
	return 0;
}

static int
measure_tail(struct chain_walk *walk, struct window *w, struct err *e)
{
	size_t have;

	walk->tail = 0;
	for (uint64_t offset = walk->offset; offset < w->file_size; offset += have) {
		const uint8_t *data = look_at(w, offset, &have, e);

		if (data == NULL)
			return -1;
		for (size_t i = 0; i < have; i++)
			if (data[i] != 0)
				walk->tail = offset + i + 1 - walk->offset;
	}
	return 0;
}

static int
walk_window(struct chain_walk *walk, struct window *w, struct err *e)
{
	if (follow(walk, w, e) < 0)
		return -1;
	if (w->file_size - walk->offset > CHAIN_TAIL_MAX)
		return err_set(e, ERR_internal,
		    "%" PRIu64 " bytes from byte %" PRIu64
		    " on are not records; too many for a torn tail",
		    w->file_size - walk->offset, walk->offset);
	if (measure_tail(walk, w, e) < 0)
		return -1;
	return find_proof(w, walk->offset, walk->end.number + 1, e);
}

int
chain_walk(struct chain_walk *self, struct err *e)
{
	struct window window = { .fd = self->fd };
	struct stat st;

	if (fstat(self->fd, &st) < 0)
		return err_sys(e, "stat");
	window.data = malloc(WINDOW);
	if (window.data == NULL)
		return err_sys(e, "chain: %d bytes", WINDOW);
	window.file_size = (uint64_t)st.st_size;
	self->end = self->before;
	self->offset = 0;

	int status = walk_window(self, &window, e);

	free(window.data);
	return status;
}

int
chain_cut(const struct chain_walk *self, int directory, const char *kept, struct err *e)
{
	auto_free uint8_t *tail = malloc(self->tail + 1);
	ssize_t n = tail == NULL ? -1 : pread(self->fd, tail, self->tail, (off_t)self->offset);

	if (n < 0)
		return err_sys(e, "read the torn tail");
	if (n > 0 && fdio_store(directory, kept, tail, (size_t)n, 0600, e) < 0)
		return -1;
	if (ftruncate(self->fd, (off_t)self->offset) < 0)
		return err_sys(e, "cut the torn tail");
	return 0;
}
