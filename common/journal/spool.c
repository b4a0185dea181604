/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.c - two files of chained records in alternation, and the batches sent from them.
 *
 * One file is written while the other is read out; a file whose records auditd has acknowledged is
 * emptied, so the disk holds the events that auditd lacks and at most one file more. The
 * events of a failed batch are sent again until they are acknowledged: no event is dropped.
 *
 * A short file is emptied after a delay of one second, because the first write to an empty file
 * makes ext4 allocate a page and a block while a call waits, which takes several times as long.
 */
#include "common/journal/spool.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/bus/bus.h"
#include "common/codec/wire.h"
#include "common/crypto/checkpoint.h"
#include "common/journal/batch.h"
#include "common/journal/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	TURN_BYTES = 1 << 20,  /* when a file is this long, the other one is written */
	KEEP_BYTES = 16 << 10, /* a shorter file is not emptied at once */
	REST_MS = 1000,
	BATCH_EVENTS = 256,
	BATCH_BYTES = 256 << 10,
	/* A delay sends the start and the end of a short run together, and keeps the sender from
	 * competing with the run for a core. */
	SEND_DELAY_MS = 10,
	RETRY_MIN_MS = 100,
	RETRY_MAX_MS = 2000,
	REPLY_TIMEOUT_MS = 15000,
	COMPLAIN_MS = 10000, /* between two log lines about refused events */
};

struct file {
	int fd;
	uint64_t size;
};

static struct {
	bool open;
	struct file files[2];
	int writing, reading;
	uint64_t limit;
	struct chain_end end;
	struct chain_buffer link; /* kept for its memory */
	size_t waiting;
	/* The batch in transit, and its offset in the file that is read. */
	uint64_t offset, batch_bytes;
	size_t batch_events;
	uint64_t ask, timer, rest;
	int64_t retry_ms;
	int64_t complain_ms; /* time of the next permitted log line */
	int checkpoint_fd;
	char checkpoint[CHECKPOINT_TEXT];
} spool;

static void send_batch(void *);

static void
send_after(int64_t ms)
{
	if (spool.timer == 0 && spool.ask == 0)
		spool.timer = loop_after(ms, send_batch, NULL);
}

/* ---- records of an earlier process ---- */

static int
count_link(void *self, const struct chain_link *link, uint64_t offset, struct err *e)
{
	(void)self, (void)link, (void)offset, (void)e;
	spool.waiting++;
	return 0;
}

static int
lock(int fd, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return err_set(
		    e, ERR_unavailable, "another process of this daemon uses the state directory");
	return err_sys(e, "lock");
}

static int
open_file(int state, const char *name, struct file *file, struct chain_end *end, struct err *e)
{
	struct chain_walk walk = { .from_middle = true, .each = count_link };
	char kept[32];

	file->fd = openat(state, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->fd < 0)
		return err_set(e, ERR_unavailable, "the audit spool %s cannot be opened: %s%s",
		    name, strerror(errno), err_shortage(errno));
	walk.fd = file->fd;
	if (lock(file->fd, e) < 0 || chain_walk(&walk, e) < 0)
		return err_add(e, "%s", name);
	if (walk.tail > 0) {
		/* One file for each: both may be torn, and the tail may contain events that
		 * exist nowhere else. */
		snprintf(kept, sizeof(kept), "%s.torn", name);
		log_warn("the spool has bytes after its last record; file kept",
		    LOG_S("file", name), LOG_S("kept", kept), LOG_N("bytes", walk.tail));
		if (chain_cut(&walk, state, kept, e) < 0)
			return err_add(e, "%s", name);
	}
	file->size = walk.offset;
	*end = walk.end;
	return 0;
}

/* A checkpoint torn by a power loss is ignored, because auditd could not compare it. */
static int
open_checkpoint(int state, struct err *e)
{
	struct checkpoint ignored;
	struct err why;

	spool.checkpoint_fd =
	    openat(state, SPOOL_CHECKPOINT, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	ssize_t n = spool.checkpoint_fd < 0 ? -1
	                                    : pread(spool.checkpoint_fd, spool.checkpoint,
						  sizeof spool.checkpoint - 1, 0);

	if (n < 0)
		return err_sys(e, "open " SPOOL_CHECKPOINT);
	spool.checkpoint[n] = '\0';
	if (n > 0 && checkpoint_read(spool.checkpoint, &ignored, &why) < 0) {
		log_warn("cannot read the stored checkpoint", LOG_E(&why));
		spool.checkpoint[0] = '\0';
	}
	return 0;
}

/* No fsync: if a power loss leaves an older checkpoint, that one is still valid. */
static void
keep_checkpoint(const char *text)
{
	size_t size = strlen(text), before = strlen(spool.checkpoint);

	if (size >= sizeof spool.checkpoint || strcmp(text, spool.checkpoint) == 0)
		return;
	memcpy(spool.checkpoint, text, size + 1);
	if (pwrite(spool.checkpoint_fd, text, size, 0) != (ssize_t)size ||
	    (size < before && ftruncate(spool.checkpoint_fd, (off_t)size) < 0))
		log_warn("keep the checkpoint of the audit log", LOG_S("error", strerror(errno)));
}

int
spool_open(int state, uint64_t limit_bytes, struct err *e)
{
	struct chain_end ends[2] = { { 0 } };

	must(!spool.open);
	memset(&spool, 0, sizeof(spool));
	spool.files[0].fd = spool.files[1].fd = spool.checkpoint_fd = -1;
	spool.limit = limit_bytes;
	spool.open = true;
	if (open_file(state, "spool.0", &spool.files[0], &ends[0], e) < 0 ||
	    open_file(state, "spool.1", &spool.files[1], &ends[1], e) < 0 ||
	    open_checkpoint(state, e) < 0) {
		spool_close();
		return -1;
	}
	/* The file with the higher numbers was written last; an empty file has none. */
	spool.writing = ends[1].number > ends[0].number;
	spool.end = ends[spool.writing];
	spool.reading = spool.files[!spool.writing].size > 0 ? !spool.writing : spool.writing;
	if (spool.waiting > 0) {
		log_info(
		    "events of an earlier process wait for auditd", LOG_N("events", spool.waiting));
		send_after(SEND_DELAY_MS);
	}
	return 0;
}

/* If this fails, the events are sent again after a restart, and auditd recognizes them by their
 * uids. */
static void
empty(struct file *file)
{
	if (file->size == 0)
		return;
	if (ftruncate(file->fd, 0) < 0) {
		log_warn("empty the spool", LOG_S("error", strerror(errno)));
		return;
	}
	file->size = 0;
}

static void
empty_acknowledged(void)
{
	struct file *file = &spool.files[spool.reading];

	empty(file);
	spool.offset = file->size;
	if (spool.reading != spool.writing) {
		spool.reading = spool.writing;
		spool.offset = 0;
	}
}

static void
at_rest(void *self)
{
	(void)self;
	spool.rest = 0;
	if (spool.waiting == 0)
		empty_acknowledged();
}

void
spool_close(void)
{
	if (!spool.open)
		return;
	loop_unset(spool.rest);
	at_rest(NULL);
	spool.open = false;
	loop_unset(spool.timer);
	bus_cancel(spool.ask);
	for (int i = 0; i < 2; i++)
		if (spool.files[i].fd >= 0)
			close(spool.files[i].fd);
	if (spool.checkpoint_fd >= 0)
		close(spool.checkpoint_fd);
	chain_buffer_clear(&spool.link);
}

size_t
spool_waiting(void)
{
	return spool.waiting;
}

const char *
spool_checkpoint(void)
{
	return spool.checkpoint;
}

/* ---- recording ---- */

static int
complete(struct audit_event *event, struct err *e)
{
	if (event->uid == NULL) {
		event->uid = malloc(37);
		if (event->uid == NULL)
			return err_sys(e, "audit event");
		hash_uuid(event->uid);
	}
	if (event->time_ms == 0)
		event->time_ms = timestamp_ms();
	return 0;
}

/* Writes the whole link or nothing. */
static int
write_link(struct file *file, struct err *e)
{
	size_t done = 0;

	while (done < spool.link.size) {
		ssize_t n = pwrite(file->fd, spool.link.data + done, spool.link.size - done,
		    (off_t)(file->size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_set(e, ERR_unavailable, "the audit spool cannot be written: %s%s",
			    strerror(errno), err_shortage(errno));
			if (done > 0 && ftruncate(file->fd, (off_t)file->size) < 0)
				log_error("cut half a record off the spool",
				    LOG_S("error", strerror(errno)));
			return -1;
		}
		done += (size_t)n;
	}
	file->size += spool.link.size;
	return 0;
}

/* Starts are refused first: an end has already happened, so its record must find room. */
static uint64_t
limit_for(const struct audit_event *event)
{
	return event->event == event_execution_started ? spool.limit - spool.limit / 4
	                                               : spool.limit;
}

/* A file that was acknowledged but could not be emptied then is emptied now. With only one file,
 * the disk would hold all new events until auditd has acknowledged the last of them. */
static void
take_turns(void)
{
	struct file *other = &spool.files[!spool.writing];

	if (spool.files[spool.writing].size < TURN_BYTES)
		return;
	if (spool.reading == spool.writing)
		empty(other);
	if (other->size == 0)
		spool.writing = !spool.writing;
}

static int
append(const void *record, size_t size, uint64_t limit, struct err *e)
{
	struct chain_end end = spool.end;
	struct file *file, *other;

	take_turns();
	file = &spool.files[spool.writing];
	other = &spool.files[!spool.writing];
	spool.link.size = 0;
	if (chain_add(&spool.link, &end, 0, record, size, e) < 0)
		return -1;
	if (file->size + other->size + spool.link.size > limit)
		return err_set(e, ERR_unavailable,
		    "auditd has not accepted %zu events and the spool is full (%" PRIu64 " bytes)",
		    spool.waiting, limit);
	if (write_link(file, e) < 0)
		return -1;
	spool.end = end;
	spool.waiting++;
	return 0;
}

/* The client gets the error each time; the operator, who can make room, gets this line. */
static void
complain(const struct err *e)
{
	int64_t now = loop_now_ms();

	if (now < spool.complain_ms)
		return;
	spool.complain_ms = now + COMPLAIN_MS;
	log_error("the audit spool cannot take events; calls are refused", LOG_E(e));
}

int
spool_record(struct audit_event *event, struct err *e)
{
	struct packed packed = { 0 };

	must(spool.open);
	if (complete(event, e) < 0 || wire_encode(MSG_audit_event, event, &packed, e) < 0)
		return -1;

	int status = append(packed.body.data, packed.body.size, limit_for(event), e);

	packed_clear(&packed);
	if (status == 0)
		send_after(SEND_DELAY_MS);
	else
		complain(e);
	return status;
}

/* ---- sending ---- */

static void
retry(const char *why)
{
	if (spool.retry_ms == 0)
		log_warn("auditd did not accept events; they are kept and sent again",
		    LOG_S("error", why), LOG_N("events", spool.waiting));
	spool.retry_ms = spool.retry_ms == 0 ? RETRY_MIN_MS : spool.retry_ms * 2;
	if (spool.retry_ms > RETRY_MAX_MS)
		spool.retry_ms = RETRY_MAX_MS;
	send_after(spool.retry_ms);
}

static void
advance(void)
{
	struct file *file = &spool.files[spool.reading];

	spool.waiting -= spool.batch_events;
	spool.offset += spool.batch_bytes;
	if (spool.offset < file->size)
		return;
	if (spool.reading != spool.writing || file->size >= KEEP_BYTES)
		empty_acknowledged();
	else if (spool.rest == 0)
		spool.rest = loop_after(REST_MS, at_rest, NULL);
}

static void
on_acknowledged(void *self, void *reply, const struct err *e)
{
	(void)self;
	spool.ask = 0;
	if (!spool.open)
		return;
	if (reply == NULL) {
		retry(e->text);
		return;
	}
	if (spool.retry_ms > 0)
		log_info("auditd accepts events again", LOG_N("events", spool.waiting));
	spool.retry_ms = 0;
	keep_checkpoint(((struct audit_mark *)reply)->checkpoint);
	advance();
	if (spool.waiting > 0)
		send_after(SEND_DELAY_MS);
}

/* Packs events from the read offset on. Each link is checked again, because the disk is not
 * trusted. */
static int
pack_links(const uint8_t *data, size_t have, struct blob *batch, struct err *e)
{
	struct chain_link link;
	ssize_t size;

	for (; spool.batch_events < BATCH_EVENTS; spool.batch_events++) {
		size = chain_parse(data + spool.batch_bytes, have - spool.batch_bytes, &link);
		if (size < 0 || (size > 0 && link.size == 0))
			return err_set(e, ERR_internal, "the spool is damaged at byte %" PRIu64,
			    spool.offset + spool.batch_bytes);
		if (size == 0)
			break;
		batch_put(batch, link.record, link.size);
		spool.batch_bytes += (uint64_t)size;
	}
	if (spool.batch_events == 0)
		return err_set(
		    e, ERR_internal, "the spool is truncated at byte %" PRIu64, spool.offset);
	return 0;
}

static int
read_batch(struct blob *batch, struct err *e)
{
	auto_free uint8_t *data = malloc(BATCH_BYTES);

	spool.batch_bytes = spool.batch_events = 0;
	if (data == NULL)
		return err_sys(e, "audit batch");

	ssize_t have = pread(spool.files[spool.reading].fd, data, BATCH_BYTES, (off_t)spool.offset);

	if (have < 0)
		return err_sys(e, "read the spool");
	/* An event takes less space in a batch than as a link. */
	batch->data = malloc((size_t)have + 1);
	if (batch->data == NULL)
		return err_sys(e, "audit batch");
	return pack_links(data, (size_t)have, batch, e);
}

static void
send_batch(void *self)
{
	struct audit_append append = { 0 };
	struct err e;

	(void)self;
	spool.timer = 0;
	if (spool.waiting == 0 || spool.ask != 0)
		return;
	if (spool.checkpoint[0] != '\0')
		append.checkpoint = spool.checkpoint;
	if (read_batch(&append.events, &e) == 0)
		spool.ask = bus_ask(
		    &(struct ask){
			.to = PEER_auditd,
			.message = MSG_audit_append,
			.request = &append,
			.timeout_ms = REPLY_TIMEOUT_MS,
			.done = on_acknowledged,
		    },
		    &e);
	blob_clear(&append.events);
	if (spool.ask == 0)
		retry(e.text);
}
