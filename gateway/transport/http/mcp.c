/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.c - from a request at /mcp to an exchange.  Nothing in the request is trusted. */
#include "gateway/transport/http/mcp.h"

#include "gateway/mcp/dispatch.h"
#include "gateway/mcp/methods.h"
#include "gateway/mcp/providers.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"
#include "gateway/rpc/parsing.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/headers.h"
#include "gateway/transport/http/session.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/work.h"

#include <string.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"

/* ---- reading a message ---- */

static bool
is_request(const json_t *message)
{
	return json_object_get(message, "method") != NULL && json_object_get(message, "id") != NULL;
}

/* Whether it is a request, or a batch with one. */
static bool
asks(const json_t *message)
{
	const json_t *each;
	size_t i;

	json_array_foreach(message, i, each) if (is_request(each)) return true;
	return is_request(message);
}

struct operation
mcp_operation(json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const char *known = method == NULL ? NULL : methods_constant(method);
	struct operation o = { .method = known == NULL ? "_OTHER" : known,
		.began_us = loop_now_us(),
		.asks = asks(message) };
	const char *tool =
	    json_string_value(json_object_get(json_object_get(message, "params"), "name"));

	if (tool != NULL && methods_call_tool(o.method)) {
		enum msg_id id = tools_find(tool);

		o.tool = id == MSG_none ? NULL : messages[id].name;
	}
	return o;
}

struct body {
	struct http_request *request;
	void (*serve)(struct http_request *, json_t *message);
	struct parsing *parsing;
};

static void
serve_body(const struct body *body, json_t *message, json_t *answer)
{
	request_forget_body(body->request); /* its text is no longer needed and may be long */
	if (message == NULL && body->request->route->rest != NULL) {
		guard_refuse(body->request, MHD_HTTP_BAD_REQUEST, NULL, "%s",
		    json_string_value(
			json_object_get(json_object_get(answer, "error"), "message")));
		json_decref(answer);
	} else if (message == NULL)
		guard_reply_json(body->request, MHD_HTTP_BAD_REQUEST, answer, NULL);
	else
		body->serve(body->request, message);
	json_decref(message);
}

static void
parsed(void *self, json_t *message, json_t *answer)
{
	struct body body = *(struct body *)self;

	free(self);
	body.request->self = NULL;
	body.request->gone = NULL;
	serve_body(&body, message, answer);
}

static void
unread(struct http_request *r)
{
	struct body *body = r->self;

	parsing_leave(body->parsing);
	free(body);
}

static void
parse_later(const struct body *body)
{
	struct http_request *r = body->request;
	struct body *waits = malloc(sizeof *waits);

	must(waits != NULL);
	*waits = *body;
	waits->parsing = parsing_new(&(struct parsing_spec){ .data = take_ptr(r->body),
	    .size = r->size,
	    .limit = options.max_message_bytes,
	    .scan = take_ptr(r->scan),
	    .done = parsed,
	    .self = waits });
	r->self = waits;
	r->gone = unread;
	parsing_start(waits->parsing);
}

void
mcp_parse(struct http_request *r, void (*serve)(struct http_request *, json_t *message))
{
	static const struct scan of_nothing;
	struct body body = { .request = r, .serve = serve };
	struct line line = { .data = r->body == NULL ? "" : r->body,
		.size = r->size,
		.limit = options.max_message_bytes,
		.scan = r->scan == NULL ? &of_nothing : r->scan };
	json_t *answer = NULL, *message;

	if (r->body != NULL && r->size > WORK_BYTES) {
		parse_later(&body);
		return;
	}
	message = jsonrpc_parse(&line, &answer);
	serve_body(&body, message, answer);
}

static void
refuse(struct http_request *r, json_t *answer)
{
	guard_reply_json(r, MHD_HTTP_BAD_REQUEST, answer, NULL);
}

static void
begin(struct http_request *r, struct session *session, bool introduces, json_t *message)
{
	struct operation operation = mcp_operation(message);
	struct exchange *x = exchange_open(r, session, &operation);

	if (x == NULL) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "out of memory");
		return;
	}
	if (introduces)
		exchange_introduces(x);
	/* Requests of a session may come with different credentials of the same principal. */
	exchange_client(x)->scopes = r->identity.scopes;
	dispatch_message(exchange_client(x), x, message, r->size);
}

/* ---- 2026-07-28 ---- */

static json_t *
claim_of(const json_t *message)
{
	return json_object_get(
	    json_object_get(json_object_get(message, "params"), "_meta"), META_VERSION);
}

/* NULL: the headers match the arguments, or the tool does not exist. */
static json_t *
check_params(const struct http_request *r, const struct rpc *rpc, const struct revision *revision)
{
	const char *name = json_string_value(json_object_get(rpc->params, "name"));
	json_t *tool = name == NULL ? NULL : providers_tool(revision, name);
	json_t *wrong = headers_params(r, rpc, json_object_get(tool, "inputSchema"));

	json_decref(tool);
	return wrong;
}

/* The error reply if the headers do not match the body; NULL: they do. */
static json_t *
check_head(const struct http_request *r, const struct rpc *rpc)
{
	const char *claimed =
	    json_string_value(json_object_get(json_object_get(rpc->params, "_meta"), META_VERSION));
	const char *said = request_header(r, "MCP-Protocol-Version");
	json_t *wrong = NULL;

	if (claimed != NULL && said != NULL && !headers_is(said, claimed))
		return headers_version(r, rpc->id, claimed);

	const struct revision *revision = revision_claimed(rpc->id, rpc->params, &wrong);

	if (wrong == NULL && rpc->kind == RPC_request && claimed != NULL)
		wrong = headers_version(r, rpc->id, claimed);
	if (wrong == NULL)
		wrong = headers_method(r, rpc);
	if (wrong == NULL && revision != NULL && methods_call_tool(rpc->method))
		wrong = check_params(r, rpc, revision);
	return wrong;
}

static void
post_modern(struct http_request *r, json_t *message)
{
	struct rpc rpc;
	json_t *wrong = jsonrpc_read(message, &rpc);

	if (wrong == NULL && rpc.kind != RPC_response)
		wrong = check_head(r, &rpc);
	if (wrong != NULL)
		refuse(r, wrong);
	else
		begin(r, NULL, false, message);
}

/* ---- earlier revisions ---- */

static bool
is_modern(const char *version)
{
	json_t *all = revision_supported(), *each;
	bool found = false;
	size_t i;

	json_array_foreach(all, i, each) found |= strcmp(json_string_value(each), version) == 0;
	json_decref(all);
	return found;
}

/* NULL: it has replied. */
static struct session *
session_of(struct http_request *r)
{
	const char *id = request_header(r, "Mcp-Session-Id");
	const char *version = request_header(r, "MCP-Protocol-Version");
	struct session *session =
	    id == NULL ? NULL : session_find(id, r->account, &exchange_transport);

	if (id == NULL)
		guard_refuse(r, MHD_HTTP_BAD_REQUEST, NULL,
		    "Mcp-Session-Id is missing: send initialize first, or name version 2026-07-28 "
		    "in _meta");
	else if (session == NULL)
		guard_refuse(r, MHD_HTTP_NOT_FOUND, NULL,
		    "Mcp-Session-Id is unknown or expired: send initialize again");
	else if (version != NULL && strcmp(revision_agree(version)->version, version) != 0) {
		guard_refuse(r, MHD_HTTP_BAD_REQUEST, NULL,
		    "MCP-Protocol-Version names a version without sessions");
		return NULL;
	}
	return session;
}

static void
post_initialize(struct http_request *r, json_t *message)
{
	struct err e;
	struct session *session = session_open(r->account, &exchange_transport, &e);

	if (session == NULL) {
		guard_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    (struct header[]){ { "Retry-After", "5" }, { 0 } }, "%s", e.text);
		return;
	}
	begin(r, session, true, message);
}

/* The body claims no version, but the header names a version whose requests must. */
static bool
lacks_claim(const struct http_request *r, json_t *message)
{
	const char *version = request_header(r, "MCP-Protocol-Version");

	return version != NULL && is_modern(version) && json_object_get(message, "method") != NULL;
}

static void
post_legacy(struct http_request *r, json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	json_t *id = json_object_get(message, "id");

	if (method != NULL && strcmp(method, "initialize") == 0) {
		post_initialize(r, message);
		return;
	}
	if (lacks_claim(r, message)) {
		if (id == NULL) /* a notification claims no version */
			post_modern(r, message);
		else
			refuse(r, revision_unclaimed(id));
		return;
	}

	struct session *session = session_of(r);

	if (session != NULL)
		begin(r, session, false, message);
}

/* ---- HTTP methods ---- */

static bool
has_claim(const json_t *batch)
{
	json_t *each;
	size_t i;

	json_array_foreach((json_t *)batch, i, each) if (claim_of(each) != NULL) return true;
	return false;
}

static void
serve(struct http_request *r, json_t *message)
{
	if (!guard_permits(r, message))
		return;
	if (has_claim(message))
		refuse(r, jsonrpc_error(NULL, RPC_INVALID,
			      "Invalid Request: protocol version 2026-07-28 has no batches; send "
			      "each message separately"));
	else if (claim_of(message) != NULL)
		post_modern(r, message);
	else
		post_legacy(r, message);
}

void
mcp_post(struct http_request *r)
{
	if (!guard_accepts(r, "application/json") && !guard_accepts(r, "text/event-stream")) {
		guard_refuse(r, MHD_HTTP_NOT_ACCEPTABLE, NULL,
		    "Accept must allow application/json, text/event-stream, or both");
		return;
	}
	mcp_parse(r, serve);
}

static void
refuse_method(struct http_request *r)
{
	guard_refuse(r, MHD_HTTP_METHOD_NOT_ALLOWED,
	    (struct header[]){ { "Allow", "POST" }, { 0 } },
	    "GET and DELETE need the Mcp-Session-Id of a session (versions before 2026-07-28)");
}

/* Whether it belongs to a session. */
static bool
in_session(const struct http_request *r)
{
	const char *version = request_header(r, "MCP-Protocol-Version");

	return request_header(r, "Mcp-Session-Id") != NULL &&
	       (version == NULL || !is_modern(version));
}

static void
take_over(struct stream *s)
{
	struct http_request *before = s->request;

	if (before == NULL)
		return;
	stream_detach(s);
	before->stream = NULL;
	request_break(before);
}

void
mcp_get(struct http_request *r)
{
	const char *event = request_header(r, "Last-Event-ID");

	if (!in_session(r)) {
		refuse_method(r);
		return;
	}
	if (!guard_accepts(r, "text/event-stream")) {
		guard_refuse(
		    r, MHD_HTTP_NOT_ACCEPTABLE, NULL, "Accept must allow text/event-stream");
		return;
	}

	struct session *session = session_of(r);

	if (session == NULL)
		return;
	if (r->head) { /* it reads no stream, so it takes over none */
		request_say(r, MHD_HTTP_OK, "text/event-stream", NULL, NULL);
		return;
	}

	struct stream *stream = event == NULL ? &session->general : session_resume(session, event);

	if (stream == NULL) {
		guard_refuse(r, MHD_HTTP_BAD_REQUEST, NULL,
		    "unknown Last-Event-ID: this session no longer keeps that event");
		return;
	}
	take_over(stream);
	request_stream(r, stream, NULL);
}

void
mcp_delete(struct http_request *r)
{
	if (!in_session(r)) {
		refuse_method(r);
		return;
	}

	struct session *session = session_of(r);

	if (session == NULL)
		return;
	session_end(session);
	request_say(r, MHD_HTTP_NO_CONTENT, NULL, NULL, NULL);
}

void
mcp_options(struct http_request *r)
{
	request_say(r, MHD_HTTP_NO_CONTENT, NULL, NULL,
	    (struct header[]){ { "Access-Control-Allow-Methods", "POST, GET, DELETE" },
		{ "Access-Control-Allow-Headers",
		    request_header(r, "Access-Control-Request-Headers") },
		{ "Access-Control-Max-Age", "600" }, { 0 } });
}
