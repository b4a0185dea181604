/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - the open file of the log, the records that wait to be written, and an index of the
 * file.
 *
 * Does not trust the disk: the start follows the open file, and each link is checked again when it
 * is read.
 *
 * A new segment begins in memory first (journal_cut()).  The writer then finishes the old file and
 * makes it durable, and only the next write gives the files their new names: audit.log becomes
 * audit-N.log, and the empty audit.next becomes audit.log.  A crash in between leaves an audit.log
 * that is missing or empty, and its records were not acknowledged.
 */
#include "auditd/journal.h"

#include "auditd/logfile.h"
#include "auditd/segments.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAME LOGFILE_OPEN

enum { ROOM = 256 << 10 }; /* bytes preallocated at a time */

_Static_assert((int)JOURNAL_STEP == (int)SEGMENTS_STEP, "a run fits into the same memory");

/* A position in the log: a link, its segment by its first record, and a byte offset in that. */
struct mark {
	struct chain_end end;
	uint64_t first, opened_ms, size;
	int fd; /* -1: the file does not exist yet */
};

/* Where records first, first + JOURNAL_STEP, first + 2 * JOURNAL_STEP... of a segment start. */
struct index {
	uint64_t *offsets;
	size_t room;
};

static struct {
	int state;
	struct mark durable, last;  /* the durable end, and the end of what was added */
	uint8_t before[HASH_BYTES]; /* the seal before the durable segment */
	struct index index, next;   /* of the durable segment, and of the one that begins */
	uint8_t *run;
	void (*each)(const struct chain_link *);
	/* Under the lock: what waits for the disk, and how far the disk has taken it. */
	pthread_mutex_t lock;
	struct chain_buffer closing, filling; /* closing: the rest of the segment before */
	struct mark closed, filled, written;
	/* Used only inside journal_write(). */
	struct chain_buffer writing;
	struct mark out;
	uint64_t room_end; /* the file is at least this long */
} journal = { .durable.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* Entries of undone records are overwritten when their numbers are used again. */
static int
index_record(struct index *index, uint64_t place, uint64_t offset, struct err *e)
{
	size_t entry = place / JOURNAL_STEP;

	if (place % JOURNAL_STEP != 0)
		return 0;
	if (entry >= index->room) {
		size_t room = entry * 2 + 1024;
		uint64_t *offsets = reallocarray(index->offsets, room, sizeof(*offsets));

		if (offsets == NULL)
			return err_sys(e, "index of the log");
		index->offsets = offsets;
		index->room = room;
	}
	index->offsets[entry] = offset;
	return 0;
}

/* ---- opening ---- */

/* The first link of the open segment tells where it begins. */
static int
take_link(void *self, const struct chain_link *link, uint64_t offset, struct err *e)
{
	struct chain_end *before = self;

	if (offset == 0) {
		if (segments_explain(link, before, e) < 0)
			return -1;
		journal.durable.first = link->number;
		journal.durable.opened_ms = link->time_ms;
		memcpy(journal.before, link->previous, HASH_BYTES);
	}
	return index_record(&journal.index, link->number - journal.durable.first, offset, e);
}

/* An empty file goes on where the newest closed segment ends. */
static struct chain_end
end_before(void)
{
	const struct segment *s = segments_at(segments_count() - 1);
	struct chain_end end = { 0 };

	if (s != NULL) {
		end.number = s->last;
		memcpy(end.seal, s->seal, HASH_BYTES);
	}
	return end;
}

static int
recover(uint64_t *torn, struct err *e)
{
	struct chain_end before = end_before();
	struct chain_walk walk = { .fd = journal.durable.fd,
		.each = take_link,
		.self = &before,
		.before = before,
		.from_middle = true };

	journal.durable.first = before.number + 1;
	memcpy(journal.before, before.seal, HASH_BYTES);
	if (chain_walk(&walk, e) < 0) {
		log_error("the log is damaged and auditd does not append to it; move it away as "
			  "evidence, then auditd starts a new one",
		    LOG_S("file", NAME), LOG_E(e));
		return -1;
	}
	*torn = walk.tail;
	if (walk.tail > 0)
		log_warn("the log ends with bytes that are no whole record; they are moved away",
		    LOG_S("file", NAME), LOG_S("to", "audit.torn"), LOG_N("bytes", walk.tail));
	if (chain_cut(&walk, journal.state, "audit.torn", e) < 0)
		return -1;
	journal.durable.end = walk.end;
	journal.durable.size = walk.offset;
	journal.last = journal.filled = journal.written = journal.out = journal.durable;
	journal.room_end = walk.offset;
	return 0;
}

/* Shows the links of a run from record `number` on; returns the number after the last. */
static uint64_t
show_run(const uint8_t *run, size_t size, uint64_t number)
{
	struct chain_link link;

	for (ssize_t n; (n = chain_parse(run, size, &link)) > 0; run += n) {
		if (link.number >= number) {
			journal.each(&link);
			number = link.number + 1;
		}
		size -= (size_t)n;
	}
	return number;
}

static int
show(struct err *e)
{
	uint64_t end = journal.durable.end.number, first, last;
	uint64_t number = end > JOURNAL_SHOWN ? end - JOURNAL_SHOWN + 1 : 1;

	while (number <= end) {
		size_t size;
		const uint8_t *run;

		if (journal_removed(number, &first, &last)) {
			number = last + 1;
			continue;
		}
		run = journal_read(number, &size, e);
		if (run == NULL)
			return -1;
		number = show_run(run, size, number);
	}
	return 0;
}

int
journal_open(int state, void (*each)(const struct chain_link *), uint64_t *torn, struct err *e)
{
	journal.each = each;
	journal.state = state;
	journal.durable.fd = logfile_open(state, e);
	if (journal.durable.fd < 0 || segments_open(state, e) < 0 || recover(torn, e) < 0 ||
	    show(e) < 0) {
		journal_close();
		return err_add(e, NAME);
	}
	return 0;
}

void
journal_close(void)
{
	if (journal.room_end > journal.durable.size &&
	    ftruncate(journal.durable.fd, (off_t)journal.durable.size) < 0)
		log_warn("cut the preallocated bytes off the log", LOG_S("error", strerror(errno)));
	if (journal.durable.fd >= 0)
		close(journal.durable.fd);
	if (journal.out.fd > 0 && journal.out.fd != journal.durable.fd)
		close(journal.out.fd);
	chain_buffer_clear(&journal.writing);
	chain_buffer_clear(&journal.closing);
	chain_buffer_clear(&journal.filling);
	free(journal.index.offsets);
	free(journal.next.offsets);
	free(journal.run);
	segments_close();
	journal = (typeof(journal)){ .durable.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* ---- adding ---- */

static bool
has_cut(void)
{
	return journal.last.first != journal.durable.first;
}

static int
add(const void *record, size_t size, struct err *e)
{
	struct chain_buffer *part = &journal.filling;
	size_t before = part->size;

	if (chain_add(part, &journal.last.end, journal.durable.end.number, record, size, e) < 0)
		return -1;
	journal.last.size += part->size - before;
	journal.filled = journal.last;
	return 0;
}

uint64_t
journal_add(const void *record, size_t size, struct err *e)
{
	struct index *index = has_cut() ? &journal.next : &journal.index;
	uint64_t place = journal.last.end.number + 1 - journal.last.first;

	if (index_record(index, place, journal.last.size, e) < 0)
		return 0;
	if (journal_is_empty())
		journal.last.opened_ms = timestamp_ms();
	pthread_mutex_lock(&journal.lock);

	int status = add(record, size, e);

	pthread_mutex_unlock(&journal.lock);
	return status < 0 ? 0 : journal.last.end.number;
}

size_t
journal_filled(void)
{
	pthread_mutex_lock(&journal.lock);

	size_t size = journal.closing.size + journal.filling.size;

	pthread_mutex_unlock(&journal.lock);
	return size;
}

uint64_t
journal_last(void)
{
	return journal.last.end.number;
}

uint64_t
journal_durable(void)
{
	return journal.durable.end.number;
}

const struct chain_end *
journal_end(void)
{
	return &journal.durable.end;
}

const struct chain_end *
journal_tip(void)
{
	return &journal.last.end;
}

uint64_t
journal_size(void)
{
	return journal.last.size;
}

uint64_t
journal_opened_ms(void)
{
	return journal.last.opened_ms;
}

bool
journal_is_empty(void)
{
	return journal.last.size == 0;
}

/* One new segment at a time, so that the writer and the reader agree on two files at most. */
bool
journal_can_cut(void)
{
	return !has_cut() && !journal_is_empty();
}

/* What is filled so far is the rest of the segment before. */
void
journal_cut(void)
{
	struct chain_buffer empty = journal.closing;

	must(journal_can_cut() && empty.size == 0);
	pthread_mutex_lock(&journal.lock);
	journal.closing = journal.filling;
	journal.filling = empty;
	journal.closed = journal.last;
	journal.last.first = journal.last.end.number + 1;
	journal.last.size = 0;
	journal.last.fd = -1;
	journal.filled = journal.last;
	pthread_mutex_unlock(&journal.lock);
}

/* ---- writing ---- */

/* Takes the rest of the segment before, or what is filled.  *filled: where it ends. */
static void
turn(struct mark *filled)
{
	bool closes = journal.closing.size > 0;
	struct chain_buffer *from = closes ? &journal.closing : &journal.filling;
	struct chain_buffer empty = journal.writing;

	empty.size = 0;
	journal.writing = *from;
	*from = empty;
	*filled = closes ? journal.closed : journal.filled;
}

static int
write_part(uint64_t start, struct err *e)
{
	const struct chain_buffer *part = &journal.writing;

	for (size_t done = 0; done < part->size;) {
		ssize_t n = pwrite(
		    journal.out.fd, part->data + done, part->size - done, (off_t)(start + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(e, "write");
		done += (size_t)n;
	}
	return 0;
}

/*
 * Writes zeros ahead of the records.  While the file does not grow, fdatasync need not write its
 * inode, which takes up to half of its time.  A disk without room for the zeros is no failure.
 */
static void
make_room(uint64_t end)
{
	static const uint8_t zeros[ROOM];

	if (end <= journal.room_end)
		return;

	ssize_t n = pwrite(journal.out.fd, zeros, sizeof(zeros), (off_t)end);

	journal.room_end = end + (n > 0 ? (uint64_t)n : 0);
}

/* All of the segment before is durable. */
static int
begin_file(uint64_t first, bool *wrote, struct err *e)
{
	const struct logfile old = { journal.out.fd, journal.out.first, journal.out.size };
	auto_fd int fd = logfile_next(journal.state, e);

	if (fd < 0 || logfile_rename(journal.state, &old, wrote, e) < 0)
		return -1;
	*wrote = false;
	journal.out.first = first;
	journal.out.size = 0;
	journal.out.fd = take_fd(&fd);
	journal.room_end = 0;
	pthread_mutex_lock(&journal.lock);
	journal.written = journal.out;
	pthread_mutex_unlock(&journal.lock);
	return 0;
}

static int
write_and_sync(struct mark *filled, bool *wrote, struct err *e)
{
	if (write_part(filled->size - journal.writing.size, e) < 0)
		return -1;
	make_room(filled->size);
	*wrote = true;
	return fdatasync(journal.out.fd) < 0 ? err_sys(e, "fdatasync")
	                                     : logfile_check_name(journal.out.fd, e);
}

int
journal_write(bool *wrote, struct err *e)
{
	struct mark filled;

	*wrote = false;
	pthread_mutex_lock(&journal.lock);
	turn(&filled);
	pthread_mutex_unlock(&journal.lock);
	if (filled.first != journal.out.first && begin_file(filled.first, wrote, e) < 0)
		return -1;
	filled.fd = journal.out.fd;
	if (write_and_sync(&filled, wrote, e) < 0)
		return -1;
	pthread_mutex_lock(&journal.lock);
	journal.written = journal.out = filled;
	pthread_mutex_unlock(&journal.lock);
	return 0;
}

/* The writer has changed to another file, so nothing writes to this one any more. */
static void
settle_segment(void)
{
	const struct mark *old = &journal.durable;
	struct segment s = { .first = old->first,
		.last = old->end.number,
		.size = old->size,
		.closed_ms = timestamp_ms() };
	struct err e;

	memcpy(s.previous, journal.before, HASH_BYTES);
	memcpy(s.seal, old->end.seal, HASH_BYTES);
	memcpy(journal.before, s.seal, HASH_BYTES);
	/* Without memory its records cannot be read before the next start. */
	if (segments_add(&s, &e) < 0)
		log_error("a segment is left out", LOG_E(&e));
	close(old->fd);
	free(journal.index.offsets);
	journal.index = journal.next;
	journal.next = (struct index){ 0 };
}

void
journal_settle(void)
{
	pthread_mutex_lock(&journal.lock);

	struct mark written = journal.written, closed = journal.closed;

	pthread_mutex_unlock(&journal.lock);
	if (written.first != journal.durable.first) {
		journal.durable.end = closed.end;
		journal.durable.size = closed.size;
		settle_segment();
	}
	journal.durable = written;
}

int
journal_undo(struct err *e)
{
	pthread_mutex_lock(&journal.lock);
	journal.filling.size = journal.closing.size = 0;
	journal.last = journal.filled = journal.written = journal.out = journal.durable;
	pthread_mutex_unlock(&journal.lock);
	journal.room_end = journal.durable.size;
	if (ftruncate(journal.durable.fd, (off_t)journal.durable.size) < 0)
		return err_sys(e, "truncate the log to its durable size");
	return 0;
}

/* ---- reading ---- */

bool
journal_removed(uint64_t number, uint64_t *first, uint64_t *last)
{
	const struct segment *s;

	if (number >= journal.durable.first || segments_find(number) != NULL)
		return false;
	*first = 1;
	*last = journal.durable.first - 1;
	for (size_t i = 0; (s = segments_at(i)) != NULL; i++) {
		if (s->first > number) {
			*last = s->first - 1;
			break;
		}
		*first = s->last + 1;
	}
	return true;
}

static const uint8_t *
read_open(uint64_t number, size_t *size, struct err *e)
{
	size_t entry = (number - journal.durable.first) / JOURNAL_STEP;
	uint64_t next = journal.durable.first + (entry + 1) * JOURNAL_STEP;
	uint64_t start = journal.index.offsets[entry], end = journal.durable.size;

	if (next <= journal.durable.end.number)
		end = journal.index.offsets[entry + 1];

	uint8_t *run = realloc(journal.run, end - start);

	if (run == NULL) {
		err_sys(e, "read the log");
		return NULL;
	}
	journal.run = run;

	ssize_t n = pread(journal.durable.fd, run, end - start, (off_t)start);

	if (n < 0 || (uint64_t)n < end - start) {
		err_sys(e, "read the log at byte %" PRIu64, start);
		return NULL;
	}
	*size = end - start;
	return run;
}

const uint8_t *
journal_read(uint64_t number, size_t *size, struct err *e)
{
	const struct segment *s;

	must(number >= 1 && number <= journal.durable.end.number);
	if (number >= journal.durable.first)
		return read_open(number, size, e);
	s = segments_find(number);
	if (s != NULL)
		return segments_read(s, number, size, e);
	err_set(e, ERR_not_found, "record %" PRIu64 " was removed from the log", number);
	return NULL;
}

/* The seal that the segment after a removed range refers to. */
static const uint8_t *
seal_before(uint64_t first)
{
	const struct segment *s = segments_find(first);

	return s != NULL ? s->previous : journal.before;
}

int
journal_seal(uint64_t number, uint8_t seal[HASH_BYTES], struct err *e)
{
	uint64_t first, last;
	size_t left;
	const uint8_t *run;
	struct chain_link link;

	if (journal_removed(number, &first, &last) && number == last) {
		memcpy(seal, seal_before(last + 1), HASH_BYTES);
		return 0;
	}
	run = journal_read(number, &left, e);
	for (ssize_t n; run != NULL && (n = chain_parse(run, left, &link)) > 0; run += n) {
		if (link.number == number) {
			memcpy(seal, link.seal, HASH_BYTES);
			return 0;
		}
		left -= (size_t)n;
	}
	return run == NULL ? -1 : err_set(e, ERR_internal, "record %" PRIu64 " is damaged", number);
}
