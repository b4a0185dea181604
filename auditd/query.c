/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - walks the log backwards in short steps, one per turn of the loop, and keeps matches.
 *
 * A caller sees only the records of the principal and the namespace in the call's envelope.  One
 * reply covers a bounded stretch of the log and then returns a cursor, so that a principal with few
 * records in a long log does not delay the others.  Many queries do not help a principal either:
 * principals take turns, one step each, and each principal's queries run in order of arrival.
 */
#include "auditd/query.h"

#include "auditd/filter.h"
#include "auditd/journal.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	STEP_BYTES = 512 << 10, /* scanned per turn */
	LOOK_BYTES = 64 << 20,  /* scanned per reply */
	PAGE_BYTES = 512 << 10, /* of records per reply */
	QUERIES = 64,           /* at once */
	QUERIES_EACH = 16,      /* at once, per principal */
	RETRY_MS = 100,
};

struct query {
	struct query *next;
	struct call *call;
	struct audit_execution want;
	struct audit_page page;
	struct filter filter;
	uint64_t before; /* records below this number are not yet scanned */
	uint64_t looked, found_bytes;
	bool ended; /* a page names one range of removed records */
};

static struct query *queries; /* in the order of their turns */
static uint64_t timer;        /* of the next turn; 0: no query waits for one */

static void
query_free(struct query *q)
{
	message_clear(MSG_audit_execution, &q->want);
	message_clear(MSG_audit_page, &q->page);
	free(q);
}

/* ---- turns ---- */

static bool
is_of(const struct query *q, const char *principal)
{
	return strcmp(q->call->owner.principal, principal) == 0;
}

static void
enter(struct query *q)
{
	struct query **at = &queries;

	while (*at != NULL)
		at = &(*at)->next;
	*at = q;
}

static void
leave(struct query *q)
{
	struct query **at = &queries;

	while (*at != NULL && *at != q)
		at = &(*at)->next;
	if (*at != NULL)
		*at = q->next;
	if (queries != NULL)
		return;
	loop_unset(timer);
	timer = 0;
}

/* Moves all queries of the principal that had a turn behind the others, in order. */
static void
end_turn(const char *principal)
{
	struct query *all = take_ptr(queries), *served = NULL, **others = &queries,
		     **last = &served;

	for (struct query *q = all; q != NULL; q = q->next) {
		struct query ***end = is_of(q, principal) ? &last : &others;

		**end = q;
		*end = &q->next;
	}
	*last = NULL;
	*others = served;
}

/* ---- scanning ---- */

/* 1: kept; 0: no match. */
static int
take(struct query *q, const struct chain_link *link, struct err *e)
{
	struct audit_entry entry = { 0 }, *slot;
	int wanted = filter_take(&q->filter, link, &entry, e);

	if (wanted <= 0)
		return wanted;
	slot = list_add(&q->page.entries, sizeof(*slot));
	if (slot == NULL) {
		message_clear(MSG_audit_entry, &entry);
		return err_sys(e, "audit page");
	}
	*slot = entry;
	q->found_bytes += link->size;
	return 1;
}

static bool
is_full(const struct query *q)
{
	return q->ended || q->page.entries.count >= q->want.limit || q->found_bytes >= PAGE_BYTES;
}

/* The run of records that ends before q->before, from the last to the first. */
static int
look_at_run(struct query *q, struct err *e)
{
	struct chain_link links[JOURNAL_STEP];
	size_t size, count = 0;
	const uint8_t *run = journal_read(q->before - 1, &size, e);

	if (run == NULL)
		return -1;
	q->looked += size;
	while (size > 0 && count < COUNT(links)) {
		ssize_t n = chain_parse(run, size, &links[count]);

		if (n <= 0)
			return err_set(e, ERR_internal,
			    "record %" PRIu64 " of the log or one before it is damaged",
			    q->before - 1);
		if (links[count].number < q->before)
			count++;
		run += n;
		size -= (size_t)n;
	}
	while (count > 0 && !is_full(q)) {
		if (take(q, &links[--count], e) < 0)
			return -1;
		q->before = links[count].number;
	}
	return 0;
}

/* 1: the next records were removed, and are passed over; 0: they were not. */
static int
pass_over(struct query *q, struct err *e)
{
	uint64_t first, last;

	if (!journal_removed(q->before - 1, &first, &last))
		return 0;
	q->ended = q->page.removed != NULL;
	if (q->ended)
		return 1;
	q->page.removed = filter_removed(first, last, e);
	q->before = first;
	return q->page.removed == NULL ? -1 : 1;
}

static int
finish(struct query *q, struct err *e)
{
	char cursor[32];

	if (q->before > 1) {
		snprintf(cursor, sizeof(cursor), "%" PRIu64, q->before);
		q->page.next_cursor = strdup(cursor);
		if (q->page.next_cursor == NULL)
			return err_sys(e, "audit page");
	}
	leave(q);
	call_reply(q->call, &q->page);
	query_free(q);
	return 0;
}

static int
look(struct query *q, struct err *e)
{
	uint64_t stop = q->looked + STEP_BYTES;

	while (q->before > 1 && !is_full(q) && q->looked < stop) {
		int passed = pass_over(q, e);

		if (passed < 0 || (passed == 0 && look_at_run(q, e) < 0))
			return -1;
	}
	return 0;
}

static void
give_up(struct query *q, const struct err *e)
{
	leave(q);
	call_fail(q->call, e);
	query_free(q);
}

static void
go_on(struct query *q)
{
	struct err e;
	int status = look(q, &e);

	end_turn(q->call->owner.principal);
	if (status == 0 && q->before > 1 && !is_full(q) && q->looked < LOOK_BYTES)
		return;
	if (status < 0 || finish(q, &e) < 0)
		give_up(q, &e);
}

static void
take_turn(void *unused)
{
	(void)unused;
	timer = 0;
	go_on(queries);
	if (queries != NULL)
		timer = loop_after(0, take_turn, NULL);
}

static void
on_cancel(struct call *call, enum err_code why)
{
	struct err e;

	err_set(&e, why, "the caller no longer waits for this page of the log");
	give_up(call->self, &e);
}

/* ---- the request ---- */

static int
read_cursor(const char *cursor, uint64_t *before, struct err *e)
{
	uint64_t end = journal_durable() + 1;
	char *rest;

	*before = end;
	if (cursor == NULL || *cursor == '\0')
		return 0;
	errno = 0;
	*before = strtoull(cursor, &rest, 10);
	if (*cursor < '0' || *cursor > '9' || *rest != '\0' || errno != 0 || *before < 1 ||
	    *before > end)
		return err_set(e, ERR_invalid_argument,
		    "cursor: '%.32s' is not a next_cursor of this log", cursor);
	return 0;
}

static int
read_request(struct query *q, struct err *e)
{
	q->filter = (struct filter){
		.owner = &q->call->owner,
		.namespace = q->want.namespace,
		.execution_id = q->want.execution_id,
		.session_id = q->want.session_id,
	};
	if (filter_settle(&q->filter, q->want.event, e) < 0)
		return -1;
	return read_cursor(q->want.cursor, &q->before, e);
}

static int
check_room(const char *principal, struct err *e)
{
	unsigned all = 0, mine = 0;

	for (const struct query *q = queries; q != NULL; q = q->next) {
		all++;
		mine += is_of(q, principal);
	}
	if (all < QUERIES && mine < QUERIES_EACH)
		return 0;
	if (all >= QUERIES)
		err_set(
		    e, ERR_queue_full, "%u queries of the log are open, which is the limit", all);
	else
		err_set(e, ERR_queue_full,
		    "%u of your queries of the log are open, which is the limit", mine);
	e->retry_ms = RETRY_MS;
	return -1;
}

/* If no other query waits, this one has its first turn at once. */
int
query_execution(struct call *call, void *request, struct err *e)
{
	if (check_room(call->owner.principal, e) < 0)
		return -1;
	struct query *q = calloc(1, sizeof *q);
	if (q == NULL)
		return err_sys(e, "query of the log");
	q->call = call;
	q->want = *(struct audit_execution *)request;
	*(struct audit_execution *)request = (struct audit_execution){ 0 };
	if (read_request(q, e) < 0) {
		query_free(q);
		return -1;
	}
	call->self = q;
	call->on_cancel = on_cancel;
	enter(q);
	if (timer == 0)
		take_turn(NULL);
	return 0;
}
