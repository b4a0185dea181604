/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - replies and events of a POST.
 *
 * An exchange ends with its reply.  If the client disconnects first, a stateless request
 * (2026-07-28) is cancelled.  In a session the exchange continues, because the client may
 * reconnect for the reply.
 */
#include "gateway/transport/http/exchange.h"

#include "gateway/mcp/links.h"
#include "gateway/options.h"
#include "gateway/rpc/jsonrpc.h"
#include "gateway/rpc/write.h"
#include "gateway/transport/account.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/metrics.h"
#include "gateway/transport/http/session.h"
#include "gateway/transport/http/state.h"
#include "gateway/transport/http/web.h"
#include "gateway/transport/tls/tls.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <stdio.h>
#include <string.h>

enum {
	SLOW_BYTES = 1 << 18, /* unread: do not add progress */
	RETRY_MS = 1000,      /* time until a client should reconnect */
};

struct exchange {
	struct exchange *next, **at;
	struct client own; /* without a session */
	struct session *session;
	struct http_request *request; /* NULL: the client disconnected */
	struct stream *stream; /* NULL: nothing was sent yet; in a session, the session owns it */
	struct stream own_stream;
	struct operation operation;
	exchange_show *show; /* NULL: the body is the message */
	uint64_t timer; /* when it expires the reply becomes a stream; comments keep it alive */
	bool events, plain, introduces, answered;
};

static struct exchange *all;

/* ---- lifetime ---- */

struct client *
exchange_client(struct exchange *x)
{
	return x->session != NULL ? &x->session->client : &x->own;
}

static void
free_exchange(struct exchange *x)
{
	*x->at = x->next;
	if (x->next != NULL)
		x->next->at = x->at;
	loop_unset(x->timer);
	stream_clear(&x->own_stream);
	free(x);
}

/* The client has its reply, or has disconnected. */
static void
on_gone(struct http_request *r)
{
	struct exchange *x = r->self;

	x->request = NULL;
	if (x->answered)
		free_exchange(x);
	else if (x->session == NULL)
		client_give_up(&x->own, true);
}

static void start_stream(struct exchange *);

static void
on_long(void *self)
{
	struct exchange *x = self;

	x->timer = 0;
	start_stream(x);
}

/* A stream can begin before there is a reply; writing to it reveals a client that has
 * disconnected. A client that accepts no stream cannot be told apart.  In a session nothing is
 * cancelled for it. */
static bool
on_ended(struct http_request *r)
{
	struct exchange *x = r->self;

	start_stream(x);
	return x->stream != NULL || x->session != NULL;
}

struct exchange *
exchange_open(struct http_request *r, struct session *session, const struct operation *operation)
{
	struct exchange *x = calloc(1, sizeof *x);

	if (x == NULL)
		return NULL;
	*x = (struct exchange){ .next = all,
		.at = &all,
		.own = { .by = &exchange_transport,
		    .account = r->account,
		    .scopes = r->identity.scopes },
		.session = session,
		.request = r,
		.own_stream = { .account = r->account },
		.operation = *operation,
		.events = guard_accepts(r, "text/event-stream"),
		.plain = guard_accepts(r, "application/json") };
	if (all != NULL)
		all->at = &x->next;
	all = x;
	if (session != NULL)
		session->exchanges++;
	if (x->events)
		x->timer = loop_after((int64_t)options.keep_alive_ms, on_long, x);
	r->self = x;
	r->gone = on_gone;
	r->ended = on_ended;
	return x;
}

void
exchange_introduces(struct exchange *x)
{
	x->introduces = true;
}

void
exchange_shows(struct exchange *x, exchange_show *show)
{
	x->show = show;
	x->plain = true;
	x->events = false;
	loop_unset(x->timer);
	x->timer = 0;
}

void
exchange_drain(void)
{
	struct exchange *next;

	for (struct exchange *x = all; x != NULL; x = next) {
		next = x->next;
		if (x->session == NULL && !x->answered)
			client_drain(&x->own);
	}
}

/* ---- before the reply ---- */

/* From 2025-11-25 on, clients understand an event without data. */
static bool
may_come_back(const struct exchange *x)
{
	const struct revision *revision = x->session == NULL ? NULL : x->session->client.revision;

	return revision != NULL && strcmp(revision->version, "2025-11-25") >= 0;
}

static const struct header *
session_headers(const struct exchange *x, struct header headers[2])
{
	headers[0] = (struct header){ "Mcp-Session-Id", x->session->id };
	headers[1] = (struct header){ 0 };
	return headers;
}

static void
start_stream(struct exchange *x)
{
	struct header headers[2];

	if (x->stream != NULL || x->request == NULL || !x->events || x->answered)
		return;
	x->stream = x->session == NULL ? &x->own_stream : session_stream(x->session);
	if (x->stream == NULL)
		return;
	request_stream(x->request, x->stream, x->introduces ? session_headers(x, headers) : NULL);
	if (may_come_back(x))
		stream_prime(x->stream, RETRY_MS);
}

/* A client that does not read loses its connection and, without a session, its request. */
static void
overflow(struct stream *s)
{
	web_counts.refused_slow++;
	if (s->request != NULL)
		request_break(s->request);
}

size_t
exchange_room(const struct account *account)
{
	return account_room(account->waiting, options.max_output_bytes, web_counts.waiting);
}

static int
add(struct session *session, struct stream *s, const json_t *message, size_t limit)
{
	size_t most = exchange_room(s->account) + s->waiting;
	int failed = stream_add(s, message, limit < most ? limit : most);

	if (session != NULL)
		session_trim(session);
	return failed;
}

/* A message that no request waits for may use no more than replay_bytes. */
static void
send_general(struct session *session, const json_t *message)
{
	struct stream *s = &session->general;
	bool read = s->request != NULL;

	if (add(session, s, message, read ? options.max_stream_bytes : options.replay_bytes) == 0)
		return;
	if (read)
		overflow(s);
	else
		stream_clear(s);
}

static void
send_message(struct client *client, struct exchange *x, const json_t *message)
{
	if (x == NULL) {
		if (client->by == &exchange_transport && client->revision != NULL &&
		    !client->revision->modern)
			send_general((struct session *)client, message);
		return;
	}
	start_stream(x);
	if (x->stream != NULL && add(x->session, x->stream, message, options.max_stream_bytes) < 0)
		overflow(x->stream);
}

static bool
is_slow(const struct client *client, const struct exchange *x)
{
	(void)client;
	return x == NULL || (x->stream != NULL && x->stream->waiting > SLOW_BYTES) ||
	       (x->stream == NULL && !x->events);
}

static void
pause_exchange(struct client *client, struct exchange *x)
{
	(void)client;
	start_stream(x);
	if (!may_come_back(x) || x->stream == NULL || x->stream->request == NULL)
		return;
	/* Sends the events that were added, then ends the response as if it were complete. */
	x->stream->paused = true;
	request_wake(x->stream->request);
}

/* Uses the host that the client used, which was checked. */
static char *
link_to(struct client *client, struct exchange *x, const char *session, const char *path)
{
	const char *host =
	    x == NULL || x->request == NULL ? NULL : request_header(x->request, "Host");
	char base[300];

	if (*options.public_url != '\0' || host == NULL || strlen(host) > sizeof base - 16)
		return links_make(*options.public_url != '\0' ? options.public_url : web_url(),
		    &client->account->owner, session, path);
	snprintf(base, sizeof base, "http%s://%s", tls_on() ? "s" : "", host);
	return links_make(base, &client->account->owner, session, path);
}

/* ---- the reply ---- */

/* An error without an id answers something that was not a message.  It gets the HTTP status of a
 * refused request (every revision, basic/transports, Sending Messages to the Server). */
static bool
is_of_no_request(const json_t *message)
{
	return json_is_object(message) && json_object_get(message, "id") == NULL;
}

/* MCP 2026-07-28, basic/transports/streamable-http: some errors have their own status. */
static unsigned
status_of(const struct exchange *x, const json_t *message)
{
	static const struct {
		int code;
		unsigned status;
	} rows[] = {
		{ RPC_METHOD, MHD_HTTP_NOT_FOUND },
		{ -32020, MHD_HTTP_BAD_REQUEST },
		{ -32021, MHD_HTTP_BAD_REQUEST },
		{ RPC_VERSION, MHD_HTTP_BAD_REQUEST },
	};
	json_int_t code =
	    json_integer_value(json_object_get(json_object_get(message, "error"), "code"));

	for (size_t i = 0; i < COUNT(rows) && x->session == NULL; i++)
		if (rows[i].code == code)
			return rows[i].status;
	if ((x->introduces && code != 0) || is_of_no_request(message))
		return MHD_HTTP_BAD_REQUEST;
	return MHD_HTTP_OK;
}

/* Replaces a reply that does not fit beside all unread ones. */
static json_t *
apology(const json_t *message)
{
	return jsonrpc_error_data(json_object_get(message, "id"), RPC_INTERNAL,
	    "the reply does not fit beside unread replies (max_output_bytes)",
	    json_pack("{s:s, s:s}", "code", err_name(ERR_limit_exceeded), "hint",
		"Read the pending replies, then repeat the request for less data."));
}

static char *
text_of(struct exchange *x, const json_t *message, size_t limit, unsigned *status, size_t *size)
{
	if (x->show != NULL)
		return x->show(x->request, message, limit, status, size);
	*status = status_of(x, message);
	return write_whole(message, limit, size);
}

static void
reply_plain(struct exchange *x, const json_t *message)
{
	struct header headers[2];
	size_t size = 0;
	unsigned status;
	char *text = text_of(x, message, exchange_room(x->request->account), &status, &size);

	if (text == NULL) {
		json_t *instead = apology(message);

		text = text_of(x, instead, SIZE_MAX, &status, &size);
		json_decref(instead);
	}
	request_reply(x->request, status, "application/json", text, size,
	    x->introduces && status == MHD_HTTP_OK ? session_headers(x, headers) : NULL);
}

static void
reply_nothing(struct exchange *x)
{
	if (x->stream != NULL)
		stream_end(x->stream);
	else if (x->request != NULL)
		request_say(x->request, MHD_HTTP_ACCEPTED, NULL, NULL, NULL);
}

static void
reply_stream(struct exchange *x, const json_t *message)
{
	/* A single reply may use the full limit, because the client asked for it. */
	if (add(x->session, x->stream, message, options.max_output_bytes) < 0) {
		json_t *instead = apology(message);

		if (add(x->session, x->stream, instead, SIZE_MAX) < 0)
			overflow(x->stream);
		json_decref(instead);
	}
	stream_end(x->stream);
}

/* The session owns the stream now; the request needs nothing else. */
static void
leave(struct exchange *x)
{
	struct session *session = take_ptr(x->session);
	bool failed = x->introduces && session->client.revision == NULL;

	if (x->request != NULL && session != NULL) {
		x->request->self = NULL;
		x->request->gone = NULL;
		x->request->ended = NULL;
		x->request = NULL;
	}
	if (x->request == NULL)
		free_exchange(x);
	if (failed)
		session_end(session);
	if (session != NULL)
		session_leave(session);
}

static void
answer(struct client *client, struct exchange *x, const json_t *message)
{
	(void)client;
	x->answered = true;
	loop_unset(x->timer);
	metrics_count(&x->operation, message);
	if (message != NULL && x->stream == NULL && !x->plain && !is_of_no_request(message))
		x->answered = false, start_stream(x), x->answered = true;
	if (message == NULL)
		reply_nothing(x);
	else if (x->stream != NULL)
		reply_stream(x, message);
	else if (x->request != NULL)
		reply_plain(x, message);
	leave(x);
}

const struct transport exchange_transport = {
	.send = send_message,
	.answer = answer,
	.slow = is_slow,
	.pause = pause_exchange,
	.link = link_to,
};
