/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - walks the log forwards for each follower, in short steps, one per turn of the loop.
 *
 * Followers take turns, so that one far behind does not delay the others.  Their number is bounded,
 * also for each principal.  A reply covers a bounded stretch of the log.
 */
#include "auditd/follow.h"

#include "auditd/filter.h"
#include "auditd/journal.h"
#include "auditd/segments.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	STEP_BYTES = 256 << 10,  /* scanned per turn */
	LOOK_BYTES = 32 << 20,   /* scanned per reply */
	PAGE_BYTES = 512 << 10,  /* of events per reply */
	PACKET_BYTES = 64 << 10, /* the same for an operator, whose reply is one packet */
	FOLLOWERS = 256,
	FOLLOWERS_EACH = 16, /* of a principal */
	WAKE_MS = 10,        /* events that come together are read together */
	RETRY_MS = 1000,
};

struct follower {
	struct follower *next;
	struct call *call;
	struct follow_events want;
	struct filter filter;
	struct event_page page;
	char *principal; /* of the filter */
	uint64_t page_bytes;
	uint64_t last; /* the last record that was scanned */
	uint64_t looked, found_bytes, timer;
	bool late;  /* wait_ms have passed */
	bool ended; /* a page names one range of removed records */
};

static struct follower *followers; /* in the order of their turns */
static uint64_t turn;              /* timer of the next turn; 0: all followers wait */

static void take_turn(void *unused);

static void
wake_after(int64_t ms)
{
	if (turn == 0 && followers != NULL)
		turn = loop_after(ms, take_turn, NULL);
}

static void
follower_free(struct follower *f)
{
	loop_unset(f->timer);
	message_clear(MSG_follow_events, &f->want);
	message_clear(MSG_event_page, &f->page);
	free(f->principal);
	free(f);
}

static void
leave(struct follower *f)
{
	struct follower **at = &followers;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
}

static void
enter(struct follower *f)
{
	struct follower **at = &followers;

	while (*at != NULL)
		at = &(*at)->next;
	f->next = NULL;
	*at = f;
}

static void
fail(struct follower *f, const struct err *e)
{
	leave(f);
	call_fail(f->call, e);
	follower_free(f);
}

static void
finish(struct follower *f)
{
	struct err e;
	char last[32];

	snprintf(last, sizeof last, "%" PRIu64, f->last);
	f->page.last = strdup(last);
	if (f->page.last == NULL) {
		err_sys(&e, "page of events");
		fail(f, &e);
		return;
	}
	leave(f);
	call_reply(f->call, &f->page);
	follower_free(f);
}

/* ---- scanning ---- */

static bool
is_full(const struct follower *f)
{
	return f->ended || f->page.events.count >= f->want.limit || f->found_bytes >= f->page_bytes;
}

static int
take(struct follower *f, const struct chain_link *link, struct err *e)
{
	struct audit_entry entry = { 0 }, *slot;
	int wanted = filter_take(&f->filter, link, &entry, e);

	if (wanted <= 0)
		return wanted;
	slot = list_add(&f->page.events, sizeof *slot);
	if (slot == NULL) {
		message_clear(MSG_audit_entry, &entry);
		return err_sys(e, "page of events");
	}
	*slot = entry;
	f->found_bytes += link->size;
	return 0;
}

/* The run of records that has the next one. */
static int
look_at_run(struct follower *f, struct err *e)
{
	struct chain_link link;
	size_t size;
	const uint8_t *run = journal_read(f->last + 1, &size, e);

	if (run == NULL)
		return -1;
	f->looked += size;
	while (size > 0 && !is_full(f)) {
		ssize_t n = chain_parse(run, size, &link);

		if (n <= 0)
			return err_set(e, ERR_internal, "record %" PRIu64 " of the log is damaged",
			    f->last + 1);
		if (link.number == f->last + 1) {
			if (take(f, &link, e) < 0)
				return -1;
			f->last++;
		}
		run += n;
		size -= (size_t)n;
	}
	return 0;
}

static bool
is_behind(const struct follower *f)
{
	return f->last < journal_durable() && !is_full(f) && f->looked < LOOK_BYTES;
}

/* 1: the next records were removed, and are passed over; 0: they were not. */
static int
pass_over(struct follower *f, struct err *e)
{
	uint64_t first, last;

	if (!journal_removed(f->last + 1, &first, &last))
		return 0;
	f->ended = f->page.removed != NULL;
	if (f->ended)
		return 1;
	f->page.removed = filter_removed(first, last, e);
	f->last = last;
	return f->page.removed == NULL ? -1 : 1;
}

static int
look_on(struct follower *f, struct err *e)
{
	int passed = pass_over(f, e);

	return passed != 0 ? passed : look_at_run(f, e);
}

/* Scans a step and replies if there is something to say; otherwise the follower waits. */
static void
serve(struct follower *f)
{
	uint64_t stop = f->looked + STEP_BYTES;
	struct err e;

	while (is_behind(f) && f->looked < stop)
		if (look_on(f, &e) < 0) {
			fail(f, &e);
			return;
		}
	if (is_behind(f))
		return;
	if (f->page.events.count > 0 || f->page.removed != NULL || f->late ||
	    f->looked >= LOOK_BYTES)
		finish(f);
}

static struct follower *
first_behind(void)
{
	struct follower *f = followers;

	while (f != NULL && !is_behind(f))
		f = f->next;
	return f;
}

static void
take_turn(void *unused)
{
	struct follower *f = first_behind();

	(void)unused;
	turn = 0;
	if (f == NULL)
		return;
	leave(f);
	enter(f);
	serve(f);
	if (first_behind() != NULL)
		wake_after(0);
}

void
follow_wake(void)
{
	wake_after(WAKE_MS);
}

/* ---- the request ---- */

static void
on_cancel(struct call *call, enum err_code why)
{
	struct err e;

	err_set(&e, why, "the caller no longer waits for events");
	fail(call->self, &e);
}

static void
on_late(void *self)
{
	struct follower *f = self;

	f->timer = 0;
	f->late = true;
	if (is_behind(f))
		wake_after(0);
	else
		finish(f);
}

static int
read_after(const char *after, uint64_t *last, struct err *e)
{
	uint64_t end = journal_durable();
	char *rest;

	*last = end;
	if (after == NULL)
		return 0;
	errno = 0;
	*last = strtoull(after, &rest, 10);
	if (*after < '0' || *after > '9' || *rest != '\0' || errno != 0)
		return err_set(
		    e, ERR_invalid_argument, "after: '%.32s' is not a number of an event", after);
	if (*last > end)
		return err_set(e, ERR_not_found,
		    "after: the log has %" PRIu64 " records and none with the number %" PRIu64, end,
		    *last);
	return 0;
}

static int
check_room(const char *principal, struct err *e)
{
	unsigned all = 0, mine = 0;

	for (const struct follower *f = followers; f != NULL; f = f->next) {
		all++;
		mine += strcmp(f->call->owner.principal, principal) == 0;
	}
	if (all < FOLLOWERS && mine < FOLLOWERS_EACH)
		return 0;
	err_set(e, ERR_queue_full, "%u requests wait for events, %u of them yours (limits %d, %d)",
	    all, mine, FOLLOWERS, FOLLOWERS_EACH);
	e->retry_ms = RETRY_MS;
	return -1;
}

static struct follower *
new_follower(struct call *call, struct follow_events *want)
{
	struct follower *f = calloc(1, sizeof *f);

	if (f == NULL)
		return NULL;
	f->call = call;
	f->want = *want;
	*want = (struct follow_events){ 0 };
	f->page_bytes = PAGE_BYTES;
	f->filter = (struct filter){
		.owner = &call->owner,
		.namespace = f->want.namespace,
		.execution_id = f->want.execution_id,
		.session_id = f->want.session_id,
	};
	return f;
}

static int
begin(struct follower *f, struct err *e)
{
	if (filter_settle(&f->filter, f->want.event, e) < 0 ||
	    read_after(f->want.after, &f->last, e) < 0) {
		follower_free(f);
		return -1;
	}
	f->call->self = f;
	f->call->on_cancel = on_cancel;
	f->timer = loop_after((int64_t)f->want.wait_ms, on_late, f);
	enter(f);
	wake_after(0);
	return 0;
}

int
follow_events(struct call *call, void *request, struct err *e)
{
	if (check_room(call->owner.principal, e) < 0)
		return -1;
	struct follower *f = new_follower(call, request);
	if (f == NULL)
		return err_sys(e, "follower");
	return begin(f, e);
}

/* ---- all principals ---- */

/* The segments that were closed before that time have nothing that is wanted. */
static uint64_t
last_before(uint64_t since_ms)
{
	const struct segment *s;
	uint64_t last = 0;

	for (size_t i = 0; (s = segments_at(i)) != NULL && s->closed_ms < since_ms; i++)
		last = s->last;
	return last;
}

static int
take_wishes(struct follow_events *want, struct audit_all *from, struct err *e)
{
	*want = (struct follow_events){
		.after = take_ptr(from->after),
		.wait_ms = from->wait_ms,
		.limit = from->limit,
		.event = take_ptr(from->event),
		.namespace = take_ptr(from->namespace),
		.execution_id = take_ptr(from->execution_id),
		.session_id = take_ptr(from->session_id),
	};
	if (want->after != NULL ||
	    asprintf(&want->after, "%" PRIu64, last_before(from->since_ms)) > 0)
		return 0;
	want->after = NULL;
	message_clear(MSG_follow_events, want);
	return err_sys(e, "follower");
}

int
follow_all(struct call *call, void *request, struct err *e)
{
	struct audit_all *all = request;
	struct follow_events want;

	if (!call->by_operator)
		return err_set(e, ERR_denied, "only an operator reads the records of all");
	if (check_room(call->owner.principal, e) < 0 || take_wishes(&want, all, e) < 0)
		return -1;
	struct follower *f = new_follower(call, &want);
	if (f == NULL) {
		message_clear(MSG_follow_events, &want);
		return err_sys(e, "follower");
	}
	f->page_bytes = PACKET_BYTES;
	f->principal = take_ptr(all->principal);
	f->filter.all = true;
	f->filter.principal = f->principal;
	f->filter.since_ms = all->since_ms;
	f->filter.until_ms = all->until_ms;
	return begin(f, e);
}

void
follow_close(void)
{
	while (followers != NULL)
		finish(followers);
	loop_unset(turn);
	turn = 0;
}
