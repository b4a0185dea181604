/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - asks auditd for the next events as fast as the client reads them.
 *
 * The audit log is the queue: while a client has unread events, nothing more is asked for.  So a
 * slow client costs one page of memory and misses nothing.
 */
#include "gateway/transport/http/events.h"

#include "gateway/transport/account.h"
#include "gateway/transport/http/guard.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"
#include "common/codec/jschema.h"
#include "common/credential/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	UNREAD_BYTES = 65536, /* more than this is not added to */
	PAGE = 100,           /* events */
	WAIT_MS = 20000,      /* of a request to auditd */
	SLACK_MS = 10000,     /* for its reply */
	LOOK_MS = 50,         /* has the client read what was sent? */
	RETRY_MS = 1000,
};

struct reader {
	struct reader *next, **link;
	struct http_request *request; /* NULL: the client disconnected */
	struct account *account;
	struct stream stream;
	uint64_t ask, timer;
	char *after; /* the last event that was added */
};

static struct reader *readers;

static void
free_reader(struct reader *r)
{
	*r->link = r->next;
	if (r->next != NULL)
		r->next->link = r->link;
	loop_unset(r->timer);
	stream_clear(&r->stream);
	account_release(r->account);
	free(r->after);
	free(r);
}

static void
on_gone(struct http_request *request)
{
	struct reader *r = request->self;

	r->request = NULL;
	if (r->ask != 0)
		bus_cancel(r->ask); /* on_page() frees it */
	else
		free_reader(r);
}

static void ask_page(void *self);

static void
ask_later(struct reader *r, int64_t ms)
{
	loop_unset(r->timer);
	r->timer = loop_after(ms, ask_page, r);
}

/* ---- events ---- */

static int
add_event(struct reader *r, const struct audit_entry *entry)
{
	json_t *json = jschema_write(MSG_audit_entry, entry);
	auto_free char *text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
	char id[32];

	json_decref(json);
	snprintf(id, sizeof id, "%" PRIu64, entry->sequence);
	return text == NULL ? -1
	                    : stream_add_named(
				  &r->stream, id, word_text(SET_event, entry->event->event), text);
}

/* What the client asked for cannot be had; or it can soon. */
static void
fail(struct reader *r, const struct err *e)
{
	bool soon = e->code == ERR_unavailable || e->code == ERR_queue_full ||
	            e->code == ERR_deadline_exceeded;
	json_t *json =
	    soon ? NULL : json_pack("{s:s, s:s}", "code", err_name(e->code), "message", e->text);
	auto_free char *text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);

	json_decref(json);
	if (soon) {
		ask_later(r, RETRY_MS);
		return;
	}
	if (text != NULL)
		stream_add_text(&r->stream, "error", text);
	stream_end(&r->stream);
}

static void
on_page(void *self, void *reply, const struct err *e)
{
	struct event_page *page = reply;
	struct reader *r = self;
	bool added = true;

	r->ask = 0;
	if (r->request == NULL) {
		free_reader(r);
		return;
	}
	if (r->stream.ended)
		return;
	if (page == NULL) {
		fail(r, e);
		return;
	}
	for (size_t i = 0; i < page->events.count && added; i++)
		added = add_event(r, &page->events.items[i]) == 0;
	if (!added) { /* it reconnects with the id of the last event that it got */
		stream_end(&r->stream);
		return;
	}
	free(r->after);
	r->after = take_ptr(page->last);
	ask_later(r, 0);
}

static char *
query(const struct reader *r, const char *name)
{
	return (char *)(uintptr_t)request_query(r->request, name);
}

static void
ask_page(void *self)
{
	struct reader *r = self;
	struct follow_events request = {
		.after = r->after,
		.wait_ms = WAIT_MS,
		.limit = PAGE,
		.event = query(r, "type"),
		.namespace = query(r, "namespace"),
		.execution_id = query(r, "execution"),
		.session_id = query(r, "session"),
	};
	struct ask it = { .to = messages[MSG_follow_events].server,
		.message = MSG_follow_events,
		.request = &request,
		.owner = &r->account->owner,
		.timeout_ms = WAIT_MS + SLACK_MS,
		.self = r,
		.done = on_page };
	struct err e;

	r->timer = 0;
	if (r->stream.ended)
		return;
	if (r->stream.waiting > UNREAD_BYTES) {
		ask_later(r, LOOK_MS);
		return;
	}
	r->ask = bus_ask(&it, &e);
	if (r->ask == 0)
		fail(r, &e);
}

/* ---- requests ---- */

static struct reader *
new_reader(struct http_request *request)
{
	const char *after =
	    request_header(request, "Last-Event-ID") ?: request_query(request, "after");
	struct reader *r = calloc(1, sizeof *r);

	if (r == NULL || (after != NULL && (r->after = strdup(after)) == NULL)) {
		free(r);
		return NULL;
	}
	r->request = request;
	r->account = account_share(request->account);
	r->stream.account = r->account;
	r->next = readers;
	r->link = &readers;
	if (r->next != NULL)
		r->next->link = &r->next;
	readers = r;
	return r;
}

void
events_get(struct http_request *request)
{
	if (!guard_allows(request, 1U << scope_monitor))
		return;
	if (!guard_accepts(request, "text/event-stream")) {
		guard_refuse(
		    request, MHD_HTTP_NOT_ACCEPTABLE, NULL, "Accept must allow text/event-stream");
		return;
	}
	if (request->head) {
		request_say(request, MHD_HTTP_OK, "text/event-stream", NULL, NULL);
		return;
	}

	struct reader *r = new_reader(request);

	if (r == NULL) {
		guard_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "out of memory");
		return;
	}
	request->self = r;
	request->gone = on_gone;
	request_stream(request, &r->stream, NULL);
	stream_comment(&r->stream); /* sends the headers now */
	ask_page(r);
}

void
events_drain(void)
{
	for (struct reader *r = readers; r != NULL; r = r->next)
		stream_end(&r->stream);
}
