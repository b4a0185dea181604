/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.c - finds and reads records in closed segments.
 *
 * Does not trust the files: a link is checked when it is read.  There is no index of a closed
 * segment.  A record is found by bisection, for a link can be found from any byte on: no text of an
 * event has the zero bytes of a link's head.
 */
#include "auditd/segments.h"

#include "auditd/key.h"
#include "auditd/logfile.h"
#include "auditd/record.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	NEAR = 64 << 10, /* bytes that are walked instead of bisected */
	WINDOW = NEAR + 2 * CHAIN_LINK_MAX,
	RUN = 128 << 10,
};

static struct {
	int state;
	struct segment *all;
	size_t count, room;
	int fd; /* of the segment that was read last; -1: none */
	uint64_t open;
	uint8_t *run;
	uint8_t window[WINDOW];
} segments = { .fd = -1 };

/* ---- what was removed ---- */

static int
read_statement(const struct chain_link *link, char text[CHECKPOINT_TEXT], struct err *e)
{
	struct audit_entry entry = { 0 };

	if (record_decode(link, &entry, e) < 0)
		return -1;
	text[0] = '\0';
	if (strcmp(entry.daemon, "auditd") == 0 &&
	    entry.event->event == event_audit_segment_opened && entry.event->detail != NULL)
		snprintf(text, CHECKPOINT_TEXT, "%s", entry.event->detail);
	message_clear(MSG_audit_entry, &entry);
	return 0;
}

int
segments_stated(const struct chain_link *link, const uint8_t public[CHECKPOINT_PUBLIC],
    struct checkpoint *c, struct err *e)
{
	char text[CHECKPOINT_TEXT];

	if (read_statement(link, text, e) < 0)
		return -1;

	int status = checkpoint_verify(text, public, c, e);

	if ((status == 0 || e->code == ERR_not_found) && c->number + 1 == link->number &&
	    memcmp(c->seal, link->previous, HASH_BYTES) == 0)
		return status;
	return err_set(e, ERR_denied,
	    "record %" PRIu64 " does not state the end of the records before it", link->number);
}

int
segments_explain(const struct chain_link *link, const struct chain_end *end, struct err *e)
{
	struct checkpoint c;

	if (chain_follows(end, link))
		return 0;
	if (link->number <= end->number + 1)
		return err_set(e, ERR_internal,
		    "record %" PRIu64 " does not follow the segment before it", link->number);
	if (segments_stated(link, key_public(), &c, e) < 0 && e->code != ERR_not_found)
		return err_set(e, ERR_internal,
		    "the log is damaged: records %" PRIu64 " to %" PRIu64
		    " are missing, and record %" PRIu64 " does not state their end",
		    end->number + 1, link->number - 1, link->number);
	log_info("records were removed from the log", LOG_N("first", end->number + 1),
	    LOG_N("last", link->number - 1));
	return 0;
}

/* ---- reading ---- */

static ssize_t
load(int fd, uint64_t offset, size_t most, uint8_t *data, struct err *e)
{
	size_t have = 0;

	while (have < most) {
		ssize_t n = pread(fd, data + have, most - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read a segment at byte %" PRIu64, offset + have);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* The first whole link in the data; its offset, or -1. */
static ssize_t
sync_to(const uint8_t *data, size_t size, struct chain_link *link)
{
	const uint8_t *at = data;

	while ((at = memmem(at, size - (size_t)(at - data), "CLR1", 4)) != NULL) {
		if (chain_parse(at, size - (size_t)(at - data), link) > 0)
			return at - data;
		at++;
	}
	return -1;
}

/* A place not after record `number`, and at most NEAR bytes before it, as far as links allow. */
static int
bisect(int fd, const struct segment *s, uint64_t number, uint64_t *place, struct err *e)
{
	uint64_t low = 0, high = s->size;

	while (high - low > NEAR) {
		uint64_t middle = low + (high - low) / 2;
		struct chain_link link;
		ssize_t n = load(fd, middle, (size_t)2 * CHAIN_LINK_MAX, segments.window, e);
		ssize_t found = n < 0 ? -1 : sync_to(segments.window, (size_t)n, &link);

		if (n < 0)
			return -1;
		if (found >= 0 && middle + (uint64_t)found < high && link.number <= number)
			low = middle + (uint64_t)found;
		else
			high = middle;
	}
	*place = low;
	return 0;
}

static int
damaged(const struct segment *s, uint64_t number, struct err *e)
{
	char name[LOGFILE_NAME];

	logfile_name(s->first, name);
	return err_set(
	    e, ERR_internal, "%s: record %" PRIu64 " or one before it is damaged", name, number);
}

/* The offset of record `number`. */
static int
find(int fd, const struct segment *s, uint64_t number, uint64_t *offset, struct err *e)
{
	struct chain_link link;
	size_t at = 0;

	if (bisect(fd, s, number, offset, e) < 0)
		return -1;

	ssize_t have = load(fd, *offset, WINDOW, segments.window, e), n = 1;

	if (have < 0)
		return -1;
	while ((n = chain_parse(segments.window + at, (size_t)have - at, &link)) > 0) {
		if (link.number == number) {
			*offset += at;
			return 0;
		}
		at += (size_t)n;
	}
	return damaged(s, number, e);
}

/* Bytes of the whole links at the start of the data, at most SEGMENTS_STEP; *last: of the last. */
static size_t
measure(const uint8_t *data, size_t size, uint64_t *last)
{
	struct chain_link link;
	size_t at = 0;
	ssize_t n;

	for (int i = 0; i < SEGMENTS_STEP && (n = chain_parse(data + at, size - at, &link)) > 0;
	     i++) {
		at += (size_t)n;
		*last = link.number;
	}
	return at;
}

/* -1: it was removed, or *e. */
static int
reach(const struct segment *s, struct err *e)
{
	struct stat st;
	char name[LOGFILE_NAME];

	/* What the operator removed since it was read counts as removed. */
	if (segments.fd >= 0 && segments.open == s->first && fstat(segments.fd, &st) == 0 &&
	    st.st_nlink > 0)
		return segments.fd;
	logfile_name(s->first, name);

	int fd = openat(segments.state, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return err_sys(e, "open %s", name);
	if (segments.fd >= 0)
		close(segments.fd);
	segments.open = s->first;
	return segments.fd = fd;
}

const uint8_t *
segments_read(const struct segment *s, uint64_t number, size_t *size, struct err *e)
{
	uint64_t start = number - (number - s->first) % SEGMENTS_STEP, offset, last = 0;
	int fd = reach(s, e);

	if (fd < 0 || find(fd, s, start, &offset, e) < 0)
		return NULL;
	for (size_t room = RUN; last < number; room *= 2) {
		uint8_t *run = realloc(segments.run, room);

		if (run == NULL) {
			err_sys(e, "read the log");
			return NULL;
		}
		segments.run = run;

		ssize_t n = load(fd, offset, room, run, e);

		if (n < 0)
			return NULL;
		*size = measure(run, (size_t)n, &last);
		if (last < number && (size_t)n < room) {
			damaged(s, number, e);
			return NULL;
		}
	}
	return segments.run;
}

/* ---- the list ---- */

static int
read_head(int fd, struct segment *s, struct chain_link *head, struct err *e)
{
	ssize_t n = load(fd, 0, CHAIN_LINK_MAX, segments.window, e);

	if (n < 0)
		return -1;
	if (chain_parse(segments.window, (size_t)n, head) <= 0 || head->number != s->first)
		return damaged(s, s->first, e);
	memcpy(s->previous, head->previous, HASH_BYTES);
	return 0;
}

static int
read_tail(int fd, struct segment *s, struct err *e)
{
	uint64_t most = (uint64_t)2 * CHAIN_LINK_MAX;
	uint64_t from = s->size > most ? s->size - most : 0;
	ssize_t have = load(fd, from, (size_t)(s->size - from), segments.window, e), n;
	struct chain_link link;
	ssize_t at = have < 0 ? -1 : sync_to(segments.window, (size_t)have, &link);

	if (have < 0)
		return -1;
	if (at < 0)
		return damaged(s, s->first, e);
	while ((n = chain_parse(segments.window + at, (size_t)(have - at), &link)) > 0) {
		s->last = link.number;
		s->closed_ms = link.time_ms;
		memcpy(s->seal, link.seal, HASH_BYTES);
		at += n;
	}
	return at == have ? 0 : damaged(s, s->last + 1, e);
}

static struct chain_end
end_of(const struct segment *s)
{
	struct chain_end end = { 0 };

	if (s != NULL) {
		end.number = s->last;
		memcpy(end.seal, s->seal, HASH_BYTES);
	}
	return end;
}

static const struct segment *
newest(void)
{
	return segments.count == 0 ? NULL : &segments.all[segments.count - 1];
}

int
segments_add(const struct segment *s, struct err *e)
{
	if (segments.count == segments.room) {
		size_t room = segments.room * 2 + 16;
		struct segment *all = reallocarray(segments.all, room, sizeof *all);

		if (all == NULL)
			return err_sys(e, "list of segments");
		segments.all = all;
		segments.room = room;
	}
	segments.all[segments.count++] = *s;
	return 0;
}

static int
add_file(uint64_t first, struct err *e)
{
	struct segment s = { .first = first };
	struct chain_end before = end_of(newest());
	struct chain_link head;
	struct stat st;
	int fd = reach(&s, e);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat a segment");
	s.size = (uint64_t)st.st_size;
	if (read_head(fd, &s, &head, e) < 0 || segments_explain(&head, &before, e) < 0 ||
	    read_tail(fd, &s, e) < 0)
		return -1;
	return segments_add(&s, e);
}

int
segments_open(int state, struct err *e)
{
	auto_free uint64_t *firsts = NULL;
	size_t count;

	segments.state = state;
	if (logfile_list(state, &firsts, &count, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add_file(firsts[i], e) < 0)
			return -1;
	return 0;
}

void
segments_close(void)
{
	if (segments.fd >= 0)
		close(segments.fd);
	free(segments.all);
	free(segments.run);
	segments = (typeof(segments)){ .fd = -1 };
}

size_t
segments_count(void)
{
	return segments.count;
}

const struct segment *
segments_at(size_t i)
{
	return i < segments.count ? &segments.all[i] : NULL;
}

static void
forget(size_t i)
{
	segments.count--;
	memmove(
	    &segments.all[i], &segments.all[i + 1], (segments.count - i) * sizeof *segments.all);
}

const struct segment *
segments_find(uint64_t number)
{
	size_t low = 0, high = segments.count;
	struct err e;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (segments.all[middle].last < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == segments.count || segments.all[low].first > number)
		return NULL;
	if (reach(&segments.all[low], &e) >= 0 || e.sys != ENOENT)
		return &segments.all[low];
	log_info("a segment of the log was removed", LOG_N("first", segments.all[low].first),
	    LOG_N("last", segments.all[low].last));
	forget(low);
	return NULL;
}

int
segments_remove_first(struct err *e)
{
	char name[LOGFILE_NAME];

	must(segments.count > 0);
	logfile_name(segments.all[0].first, name);
	if (unlinkat(segments.state, name, 0) < 0 && errno != ENOENT)
		return err_sys(e, "remove %s", name);
	if (segments.fd >= 0 && segments.open == segments.all[0].first) {
		close(segments.fd);
		segments.fd = -1;
	}
	forget(0);
	return 0;
}
