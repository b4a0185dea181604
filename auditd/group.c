/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - calls wait in two groups: one whose records are being written, one that fills.
 *
 * All records that came in one turn of the loop, or while the disk was busy, are written by one
 * write and made durable by one fdatasync; then each call is answered.  The thread touches only the
 * part that journal_turn() gave it, and the two speak by eventfd.
 */
#include "auditd/group.h"

#include "auditd/journal.h"
#include "auditd/record.h"
#include "auditd/seen.h"

#include "common/auto.h"
#include "common/daemon.h"
#include "common/log.h"
#include "common/loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

enum {
	CALLS = 256,            /* in one group */
	FILLING_MAX = 16 << 20, /* bytes of one group */
	FULL_RETRY_MS = 50,
};

/* What the thread is told; both may be in one number. */
static const eventfd_t WRITE = 1, END = (eventfd_t)1 << 32;

struct group {
	struct {
		struct call *call;
		uint64_t sequence;
	} members[CALLS];
	size_t count;
};

static struct {
	struct group groups[2];
	struct group *filling, *writing;
	bool busy;
	int work_fd, done_fd;
	pthread_t thread;
	/* Of the thread while busy, of the loop otherwise. */
	bool failed, wrote;
	struct err error;
} group = { .work_fd = -1, .done_fd = -1 };

/* ---- the thread ---- */

static void *
write_parts(void *self)
{
	eventfd_t told;

	(void)self;
	do {
		must(eventfd_read(group.work_fd, &told) == 0);
		if (told % END == 0)
			continue;
		group.failed = journal_write(&group.wrote, &group.error) < 0;
		must(eventfd_write(group.done_fd, 1) == 0);
	} while (told < END);
	return NULL;
}

/* ---- in the loop ---- */

static void
answer(struct group *who, const struct err *e)
{
	for (size_t i = 0; i < who->count; i++) {
		struct audit_mark mark = { .sequence = who->members[i].sequence };

		if (e == NULL)
			call_reply(who->members[i].call, &mark);
		else
			call_fail(who->members[i].call, e);
	}
	who->count = 0;
}

static bool
turn(void *self)
{
	(void)self;
	if (group.busy)
		return false;
	if (journal_filled() == 0) {
		/* Calls all of whose events stand in the log already. */
		answer(group.filling, NULL);
		return false;
	}

	struct group *empty = group.writing;

	group.writing = group.filling;
	group.filling = empty;
	journal_turn();
	group.busy = true;
	must(eventfd_write(group.work_fd, WRITE) == 0);
	return false;
}

/* Nothing since the last durable record counts; whoever sent it will send it again. */
static void
give_up(void)
{
	struct err e, cut;

	log_error("the log could not be written; what was not acknowledged is given back",
	    LOG_E(&group.error));
	err_set(
	    &e, ERR_unavailable, "the audit log cannot be written: %s", strerror(group.error.sys));
	seen_undo(journal_last() - journal_durable());

	int status = journal_undo(&cut);

	answer(group.writing, &e);
	answer(group.filling, &e);
	/* After a failed fdatasync nobody knows what is on the disk: only a fresh start can tell.
	 */
	if (group.wrote)
		daemon_end("the disk did not take the log; starting again will show what it holds");
	else if (status < 0)
		daemon_end(cut.text);
}

static void
on_written(void *self, uint32_t events)
{
	eventfd_t n;

	(void)self, (void)events;
	if (eventfd_read(group.done_fd, &n) < 0)
		return;
	group.busy = false;
	if (group.failed) {
		give_up();
		return;
	}
	journal_settle();
	answer(group.writing, NULL);
}

/* 0 also where the event stands in the log already. */
static int
add_event(const char *daemon, struct audit_event *event, struct err *e)
{
	size_t size;
	auto_free uint8_t *record = record_encode(daemon, event, &size, e);

	if (record == NULL)
		return -1;
	if (!seen_add(daemon, event->uid))
		return 0;
	if (journal_add(record, size, e) == 0) {
		seen_undo(1);
		return -1;
	}
	return 0;
}

int
group_append(struct call *call, void *request, struct err *e)
{
	struct audit_append *batch = request;

	if (group.filling->count == CALLS || journal_filled() > FILLING_MAX) {
		err_set(e, ERR_queue_full, "the disk is slower than the events come");
		e->retry_ms = FULL_RETRY_MS;
		return -1;
	}
	/* What was added before one failed stays; sent again, it is known by its uid. */
	for (size_t i = 0; i < batch->events.count; i++)
		if (add_event(edge_peer_name(call->from), &batch->events.items[i], e) < 0)
			return -1;
	group.filling->members[group.filling->count].call = call;
	group.filling->members[group.filling->count++].sequence = journal_last();
	return 0;
}

/* ---- its life ---- */

static int
add_own(enum event what, const char *detail, struct err *e)
{
	char uid[37];
	struct timespec now;

	hash_uuid(uid);
	clock_gettime(CLOCK_REALTIME, &now);

	struct audit_event event = {
		.uid = uid,
		.time_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000,
		.event = what,
		.detail = (char *)detail,
	};

	return add_event("auditd", &event, e);
}

int
group_open(uint64_t torn, struct err *e)
{
	char detail[128] = "the log is whole";

	if (torn > 0)
		snprintf(detail, sizeof(detail),
		    "%llu bytes of a torn tail, acknowledged to nobody, were cut",
		    (unsigned long long)torn);
	group.filling = &group.groups[0];
	group.writing = &group.groups[1];
	group.work_fd = eventfd(0, EFD_CLOEXEC);
	group.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (group.work_fd < 0 || group.done_fd < 0)
		return err_sys(e, "eventfd");
	if (loop_watch(group.done_fd, EPOLLIN, on_written, NULL, e) < 0 ||
	    loop_before_wait(turn, NULL, e) < 0)
		return -1;
	errno = pthread_create(&group.thread, NULL, write_parts, NULL);
	if (errno != 0)
		return err_sys(e, "thread that writes");
	return add_own(event_daemon_started, detail, e);
}

/* The thread is done with; what is left is written here. */
static int
write_rest(struct err *e)
{
	bool wrote;

	if (add_own(event_daemon_stopped, NULL, e) < 0)
		return -1;
	journal_turn();
	if (journal_write(&wrote, e) < 0)
		return -1;
	journal_settle();
	return 0;
}

void
group_close(void)
{
	struct err e;

	must(eventfd_write(group.work_fd, END) == 0);
	pthread_join(group.thread, NULL);
	if (group.busy)
		on_written(NULL, EPOLLIN);

	int status = write_rest(&e);

	if (status < 0)
		log_error("the last records could not be written", LOG_E(&e));
	answer(group.filling, status < 0 ? &e : NULL);
	loop_forget(group.done_fd);
	close(group.work_fd);
	close(group.done_fd);
}
