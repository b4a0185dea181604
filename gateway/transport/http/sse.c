/* SPDX-License-Identifier: Apache-2.0 */
/* sse.c - a client that lives as long as its stream, which carries all replies. */
#include "gateway/transport/http/sse.h"

#include "gateway/mcp/dispatch.h"
#include "gateway/options.h"
#include "gateway/transport/http/exchange.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/mcp.h"
#include "gateway/transport/http/metrics.h"
#include "gateway/transport/http/session.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

/* The exchange of a posted message; needed only for counting. */
struct posted {
	struct operation operation;
};

/* The session is the client; see struct session. */
static void
send_message(struct client *client, struct exchange *unused, const json_t *message)
{
	struct session *session = (struct session *)client;
	struct stream *s = &session->general;

	(void)unused;
	if (message == NULL || s->request == NULL)
		return;
	/* A single reply may use the full limit; further ones must fit within the rest. */
	size_t limit = s->waiting == 0 ? options.max_output_bytes : options.max_stream_bytes;
	size_t most = exchange_room(s->account) + s->waiting;

	if (stream_add(s, message, limit < most ? limit : most) < 0)
		request_break(s->request);
}

/* Each posted message is answered once, maybe with nothing.  The session stays until then. */
static void
answer(struct client *client, struct exchange *exchange, const json_t *message)
{
	struct posted *posted = (struct posted *)exchange;

	metrics_count(&posted->operation, message);
	free(posted);
	send_message(client, NULL, message);
	session_leave((struct session *)client);
}

static bool
is_slow(const struct client *client, const struct exchange *unused)
{
	(void)unused;
	return ((const struct session *)client)->general.waiting > options.max_stream_bytes / 4;
}

static char *
link_to(struct client *client, struct exchange *unused, const char *session, const char *path)
{
	(void)unused;
	return exchange_transport.link(client, NULL, session, path);
}

static const struct transport by_sse = {
	.send = send_message,
	.answer = answer,
	.slow = is_slow,
	.link = link_to,
};

static void
on_gone(struct http_request *r)
{
	session_end(r->self);
}

void
sse_get(struct http_request *r)
{
	struct err e;
	char where[64];

	if (r->head) {
		request_say(r, MHD_HTTP_OK, "text/event-stream", NULL, NULL);
		return;
	}

	struct session *session = session_open(r->account, &by_sse, &e);

	if (session == NULL) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    (struct header[]){ { "Retry-After", "5" }, { 0 } }, "%s", e.text);
		return;
	}
	session->general.tag = 0; /* it cannot be resumed */
	r->self = session;
	r->gone = on_gone;
	request_stream(r, &session->general, NULL);
	snprintf(where, sizeof where, "/messages?session_id=%s", session->id);
	if (stream_add_text(&session->general, "endpoint", where) < 0)
		request_break(r);
}

static void
begin(struct http_request *r, struct session *session, json_t *message)
{
	struct posted *posted = malloc(sizeof *posted);

	if (posted == NULL) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "out of memory");
		return;
	}
	posted->operation = mcp_operation(message);
	session->client.scopes = r->identity.scopes;
	request_say(r, MHD_HTTP_ACCEPTED, "text/plain", "Accepted", NULL);
	session->exchanges++;
	dispatch_message(&session->client, (struct exchange *)posted, message, r->size);
}

/* NULL: it has replied. */
static struct session *
session_of(struct http_request *r)
{
	const char *id = request_query(r, "session_id");
	struct session *session = id == NULL ? NULL : session_find(id, r->account, &by_sse);

	if (session == NULL)
		guard_refuse(
		    r, MHD_HTTP_NOT_FOUND, NULL, "session_id names no open stream: GET /sse first");
	return session;
}

/* Its stream may have ended in the meantime. */
static void
serve(struct http_request *r, json_t *message)
{
	struct session *session = guard_permits(r, message) ? session_of(r) : NULL;

	if (session != NULL)
		begin(r, session, message);
}

void
sse_post(struct http_request *r)
{
	if (session_of(r) != NULL)
		mcp_parse(r, serve);
}
