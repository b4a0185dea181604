/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - queues calls until their records are durable; a thread writes them to the disk.
 *
 * The thread takes all records that arrived while the disk was busy, writes them with one write and
 * one fdatasync, and takes the next ones at once.  Meanwhile the loop reads and replies.  The two
 * sides signal each other by eventfd; `failed` reports a failed write.
 */
#include "auditd/group.h"

#include "auditd/follow.h"
#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/own.h"
#include "auditd/record.h"
#include "auditd/rotate.h"
#include "auditd/seen.h"
#include "auditd/witness.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/codec/wire.h"
#include "common/daemon/daemon.h"
#include "common/journal/batch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum {
	CALLS = 512,            /* waiting */
	FILLING_MAX = 16 << 20, /* bytes that wait for the disk */
	FULL_RETRY_MS = 50,
	RETAIN_MS = 3600000,
};

/* Commands to the thread; one eventfd value can hold both. */
static const eventfd_t WRITE = 1, END = (eventfd_t)1 << 32;

static struct {
	struct waiting {
		struct call *call;
		uint64_t sequence;
	} calls[CALLS]; /* a ring, in sequence */
	size_t first, count, of[PEER_COUNT];
	int work_fd, done_fd;
	pthread_t thread;
	atomic_bool asleep; /* the thread sleeps, or is about to */
	/* While it is set, the thread writes nothing.  While it is clear, the fields below belong
	 * to the thread. */
	atomic_bool failed;
	bool wrote;
	struct err error;
	uint64_t syncs, accept_loss, timer;
} group = { .work_fd = -1, .done_fd = -1 };

/* ---- the thread ---- */

static bool
has_work(void)
{
	return !group.failed && journal_filled() > 0;
}

static void
write_all(void)
{
	while (has_work()) {
		if (journal_write(&group.wrote, &group.error) < 0)
			group.failed = true;
		else
			group.syncs++;
		must(eventfd_write(group.done_fd, 1) == 0);
	}
}

static void *
write_parts(void *self)
{
	eventfd_t told;

	(void)self;
	do {
		must(eventfd_read(group.work_fd, &told) == 0);
		group.asleep = false;
		write_all();
		/*
		 * Set before the last check, so that the loop signals whatever this check misses.
		 */
		group.asleep = true;
		write_all();
	} while (told < END);
	return NULL;
}

/* ---- the loop ---- */

static struct call *
next_call(void)
{
	struct call *call = group.calls[group.first].call;

	group.first = (group.first + 1) % CALLS;
	group.count--;
	group.of[call->from]--;
	return call;
}

/* Signs durable records only. */
static void
answer_durable(void)
{
	const struct chain_end *end = journal_end();

	while (group.count > 0 && group.calls[group.first].sequence <= end->number) {
		struct audit_mark mark = {
			.sequence = group.calls[group.first].sequence,
			.checkpoint = (char *)(uintptr_t)key_sign(end->number, end->seal),
		};

		call_reply(next_call(), &mark);
	}
}

static void
wake_thread(void)
{
	if (group.asleep && journal_filled() > 0)
		must(eventfd_write(group.work_fd, WRITE) == 0);
}

/* Discards everything after the last durable record; its sender sends it again. */
static void
give_up(void)
{
	struct err e, cut;

	log_error("the log could not be written; unacknowledged events are returned",
	    LOG_E(&group.error));
	err_set(&e, ERR_unavailable, "the audit log cannot be written: %s%s",
	    strerror(group.error.sys), err_shortage(group.error.sys));
	seen_undo(journal_last() - journal_durable());

	int status = journal_undo(&cut);

	rotate_undone();
	while (group.count > 0)
		call_fail(next_call(), &e);
	/*
	 * After a failed fdatasync the state of the disk is unknown; only a restart can find out.
	 */
	if (group.wrote)
		daemon_end(
		    "the log could not be synced to the disk; the next start checks what it holds");
	else if (status < 0)
		daemon_end(cut.text);
	else
		group.failed = false;
}

/* Also while no event arrives. */
static void
retain(void)
{
	rotate_retain();
	wake_thread();
}

static void
retain_later(void *unused)
{
	(void)unused;
	retain();
	group.timer = loop_after(RETAIN_MS, retain_later, NULL);
}

/* Records that were written before a failure are durable nevertheless. */
static void
settle(void)
{
	bool failed = group.failed;

	journal_settle();
	follow_wake();
	answer_durable();
	if (failed)
		give_up();
	else
		retain();
}

static void
on_written(void *self, uint32_t events)
{
	eventfd_t n;

	(void)self, (void)events;
	if (eventfd_read(group.done_fd, &n) == 0)
		settle();
}

/* Also returns 0 if the log already has the event. */
static int
add_packed(const char *daemon, const struct blob *packed, const char *uid, struct err *e)
{
	uint8_t record[CHAIN_RECORD_MAX];
	size_t size = record_pack(daemon, packed, record, e);

	if (size == 0)
		return -1;
	if (rotate_before_add(e) < 0)
		return -1;
	if (!seen_add(daemon, uid))
		return 0;
	if (journal_add(record, size, e) == 0) {
		seen_undo(1);
		return -1;
	}
	return 0;
}

/* Decodes the event only to check it; the received bytes are stored. */
static int
add_event(const char *daemon, const struct blob *packed, struct err *e)
{
	struct audit_event event = { 0 };

	if (wire_decode(MSG_audit_event, &(struct packed){ .body = *packed }, &event, e) < 0)
		return -1;

	int status = add_packed(daemon, packed, event.uid, e);

	message_clear(MSG_audit_event, &event);
	return status;
}

/* Keeps the events before a failed one; sent again, they are recognized by their uid. */
static int
add_events(const char *daemon, const struct blob *batch, struct err *e)
{
	struct blob packed;
	size_t offset = 0, count = 0;

	while (count++ < BATCH_EVENTS_MAX && batch_next(batch, &offset, &packed))
		if (add_event(daemon, &packed, e) < 0)
			return err_add(e, "event %zu", count);
	if (offset < batch->size)
		return err_set(e, ERR_invalid_argument,
		    "events: no event at byte %zu of %zu, or more than %d", offset, batch->size,
		    BATCH_EVENTS_MAX);
	return 0;
}

static int
add_own(enum event what, const char *detail, struct err *e)
{
	return rotate_before_add(e) < 0 ? -1 : own_add(what, detail, timestamp_ms(), e);
}

static int
add_loss(uint64_t lost, struct err *e)
{
	char detail[128];

	snprintf(detail, sizeof(detail),
	    "a checkpoint of %llu records does not match this log, which had %llu",
	    (unsigned long long)lost, (unsigned long long)journal_durable());
	return add_own(event_audit_loss_accepted, detail, e);
}

/* If the log provably lacks records, it accepts nothing more from any daemon. */
static int
check_checkpoint(enum peer from, const char *text, struct err *e)
{
	uint64_t lost = 0;
	bool proven;

	if (text == NULL)
		return 0;
	if (witness_check(text, group.accept_loss, &lost, &proven, e) == 0)
		return lost > 0 ? add_loss(lost, e) : 0;
	log_error("events are refused", LOG_S("from", edge_peer_name(from)), LOG_E(e));
	if (proven)
		daemon_end(e->text);
	return -1;
}

/* A daemon may have one batch under way, so that one that floods takes no room from the others. */
static bool
has_room(enum peer from)
{
	return group.of[from] == 0 ||
	       (group.count < CALLS - PEER_COUNT && journal_filled() <= FILLING_MAX);
}

int
group_append(struct call *call, void *request, struct err *e)
{
	struct audit_append *batch = request;

	if (!has_room(call->from)) {
		err_set(e, ERR_queue_full, "events arrive faster than the disk writes them");
		e->retry_ms = FULL_RETRY_MS;
		return -1;
	}

	int status = check_checkpoint(call->from, batch->checkpoint, e);

	if (status == 0)
		status = add_events(edge_peer_name(call->from), &batch->events, e);

	wake_thread();
	if (status < 0)
		return -1;
	group.calls[(group.first + group.count++) % CALLS] =
	    (struct waiting){ call, journal_last() };
	group.of[call->from]++;
	answer_durable();
	return 0;
}

/* ---- start and stop ---- */

int
group_open(const struct group_start *start, struct err *e)
{
	char detail[128] = "the log is whole";

	if (start->torn > 0)
		snprintf(detail, sizeof(detail),
		    "a torn tail of %llu bytes, never acknowledged, was cut off",
		    (unsigned long long)start->torn);
	group.accept_loss = start->accept_loss;
	group.work_fd = eventfd(0, EFD_CLOEXEC);
	group.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (group.work_fd < 0 || group.done_fd < 0)
		return err_sys(e, "eventfd");
	if (loop_watch(group.done_fd, EPOLLIN, on_written, NULL, e) < 0 ||
	    add_own(event_daemon_started, detail, e) < 0 ||
	    (start->lost > 0 && add_loss(start->lost, e) < 0))
		return -1;
	must(eventfd_write(group.work_fd, WRITE) == 0);
	errno = pthread_create(&group.thread, NULL, write_parts, NULL);
	if (errno != 0)
		return err_sys(e, "start the writer thread");
	group.timer = loop_after(RETAIN_MS, retain_later, NULL);
	return 0;
}

/* The thread has ended, and no call waits. */
static int
write_rest(struct err *e)
{
	bool wrote;

	if (add_own(event_daemon_stopped, NULL, e) < 0)
		return -1;
	for (; journal_filled() > 0; group.syncs++) {
		if (journal_write(&wrote, e) < 0)
			return -1;
		journal_settle();
	}
	return 0;
}

void
group_close(void)
{
	struct err e;

	loop_unset(group.timer);
	must(eventfd_write(group.work_fd, END) == 0);
	pthread_join(group.thread, NULL);
	settle();
	must(group.count == 0);
	if (!group.failed && write_rest(&e) < 0)
		log_error("the last records could not be written", LOG_E(&e));
	log_info("log is closed", LOG_N("records", journal_durable()), LOG_N("syncs", group.syncs));
	loop_forget(group.done_fd);
	close(group.work_fd);
	close(group.done_fd);
}
