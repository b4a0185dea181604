/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - the methods of MCP in each era, and which era a message belongs to.
 *
 * A request that claims a version is served by that alone (stateless); one that claims none belongs
 * to the era that initialize agreed on.  Nothing a client sends is trusted.
 */
#include "gateway/dispatch.h"

#include "gateway/calls.h"
#include "gateway/options.h"
#include "gateway/tools.h"

#include "common/auto.h"
#include "common/log.h"

#include <ctype.h>
#include <string.h>

enum {
	MAX_BATCH = 256,
};

/* When a method may be called. */
enum {
	MODERN = 1, /* with a claim */
	AGREED = 2, /* after initialize */
	FIRST = 4,  /* before it */
};

struct request {
	struct origin origin;
	json_t *params, *meta; /* objects, or NULL */
	size_t bytes;
};

static json_t *
describe_server(json_t *result)
{
	json_object_set_new(
	    result, "capabilities", json_pack("{s:{s:b}}", "tools", "listChanged", 0));
	if (options.instructions[0] != '\0')
		json_object_set_new(result, "instructions", json_string(options.instructions));
	return result;
}

static json_t *
complete(const struct request *r, json_t *result, bool cacheable)
{
	return jsonrpc_result(r->origin.id, era_finish(r->origin.era, result, cacheable));
}

/* ---- methods: each gives its answer, or NULL where that comes later ---- */

static json_t *
on_initialize(const struct request *r)
{
	struct client *client = r->origin.client;
	json_t *wanted = json_object_get(r->params, "protocolVersion");

	if (client->era != NULL)
		return jsonrpc_error(r->origin.id, RPC_INVALID,
		    "Invalid Request: initialize was answered before, with protocol version %s",
		    client->era->version);
	if (r->origin.batch != NULL)
		return jsonrpc_error(
		    r->origin.id, RPC_INVALID, "Invalid Request: initialize cannot be in a batch");
	if (!json_is_string(wanted))
		return jsonrpc_error(
		    r->origin.id, RPC_PARAMS, "Invalid params: protocolVersion must be a string");
	client->era = era_agree(json_string_value(wanted));
	return jsonrpc_result(
	    r->origin.id, describe_server(json_pack("{s:s, s:o}", "protocolVersion",
			      client->era->version, "serverInfo", era_server_info(client->era))));
}

static json_t *
on_discover(const struct request *r)
{
	return complete(
	    r, describe_server(json_pack("{s:o}", "supportedVersions", era_supported())), true);
}

static json_t *
on_ping(const struct request *r)
{
	return jsonrpc_result(r->origin.id, json_object());
}

static json_t *
on_tools_list(const struct request *r)
{
	/* All tools are on the first page, so no cursor was ever given out. */
	json_t *cursor = json_object_get(r->params, "cursor");

	if (cursor != NULL && !json_is_null(cursor))
		return jsonrpc_error(r->origin.id, RPC_PARAMS, "Invalid params: unknown cursor");
	return complete(r, json_pack("{s:o}", "tools", tools_list(r->origin.era)), true);
}

static json_t *
on_tools_call(const struct request *r)
{
	json_t *name = json_object_get(r->params, "name");
	json_t *arguments = json_object_get(r->params, "arguments");

	if (!json_is_string(name))
		return jsonrpc_error(
		    r->origin.id, RPC_PARAMS, "Invalid params: name must be a string");
	if (arguments != NULL && !json_is_object(arguments))
		return jsonrpc_error(
		    r->origin.id, RPC_PARAMS, "Invalid params: arguments must be an object");

	enum msg_id tool = tools_find(json_string_value(name));

	if (tool == MSG_none)
		return jsonrpc_error(
		    r->origin.id, RPC_PARAMS, "Unknown tool: %.128s", json_string_value(name));
	return calls_begin(&(struct call_in){ r->origin, tool, arguments, r->meta, r->bytes });
}

static const struct method {
	const char *name;
	unsigned when;
	json_t *(*handle)(const struct request *);
} methods[] = {
	{ "initialize", FIRST | AGREED, on_initialize },
	{ "ping", FIRST | AGREED, on_ping },
	{ "server/discover", MODERN, on_discover },
	{ "tools/call", MODERN | AGREED, on_tools_call },
	{ "tools/list", MODERN | AGREED, on_tools_list },
};

static const struct method *
find(const char *name, unsigned when)
{
	for (const struct method *m = methods; m < methods + COUNT(methods); m++)
		if ((m->when & when) != 0 && strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* ---- messages ---- */

static json_t *
handle_request(struct request *r, const char *name)
{
	const struct client *client = r->origin.client;
	json_t *answer;

	if (client_find(client, r->origin.id) != NULL)
		return jsonrpc_error(r->origin.id, RPC_INVALID,
		    "Invalid Request: the id is that of a call under way; choose another");
	r->meta = json_object_get(r->params, "_meta");
	r->origin.era = era_claimed(r->origin.id, r->params, &answer);
	if (answer != NULL)
		return answer;

	unsigned when = r->origin.era != NULL ? MODERN : client->era != NULL ? AGREED : FIRST;
	const struct method *m = find(name, when);

	if (m == NULL && when == FIRST)
		return era_unclaimed(r->origin.id);
	if (m == NULL)
		return jsonrpc_error(r->origin.id, RPC_METHOD, "Method not found: %.128s", name);
	if (r->origin.era == NULL)
		r->origin.era = client->era;
	return m->handle(r);
}

/* Notifications are never answered; of those that exist one asks for something. */
static void
handle_notification(struct client *client, const struct rpc *rpc)
{
	if (strcmp(rpc->method, "notifications/cancelled") == 0)
		client_cancel(client, json_object_get(rpc->params, "requestId"));
}

/* What is pending holds its place in a batch by itself. */
static void
handle_message(const struct origin *to, json_t *message, size_t bytes)
{
	struct rpc rpc;
	json_t *answer = jsonrpc_read(message, &rpc);
	struct request r = { .origin = *to, .params = rpc.params, .bytes = bytes };
	bool asks = answer == NULL && rpc.kind == RPC_request;

	r.origin.id = rpc.id;
	if (answer == NULL && rpc.kind == RPC_notification)
		handle_notification(to->client, &rpc);
	if (asks)
		answer = handle_request(&r, rpc.method);
	if (answer == NULL && (asks || to->batch != NULL))
		return;
	client_batch_hold(to->batch);
	client_answer(&r.origin, answer);
}

static const char *
refuse_batch(const struct client *client, const json_t *messages_)
{
	if (client->era == NULL || !client->era->batches)
		return "this protocol version has no batches; send one message a line";
	if (json_array_size(messages_) == 0)
		return "an empty batch";
	if (json_array_size(messages_) > MAX_BATCH)
		return "a batch of more than 256 messages";
	return NULL;
}

static void
handle_batch(struct origin origin, json_t *messages_, size_t bytes)
{
	const char *refusal = refuse_batch(origin.client, messages_);
	json_t *message;
	size_t i;

	origin.batch = refusal == NULL ? client_batch() : NULL;
	if (origin.batch == NULL) {
		client_answer(&origin, jsonrpc_error(NULL, RPC_INVALID, "Invalid Request: %s",
					   refusal != NULL ? refusal : "out of memory"));
		return;
	}
	json_array_foreach(messages_, i, message)
	    handle_message(&origin, message, bytes / json_array_size(messages_));
	client_answer(&origin, NULL);
}

static bool
is_blank(const struct line *line)
{
	size_t i = 0;

	while (i < line->size && isspace((unsigned char)line->data[i]))
		i++;
	return !line->over && i == line->size;
}

void
dispatch_message(struct client *client, struct exchange *exchange, json_t *message, size_t bytes)
{
	struct origin origin = { .client = client, .exchange = exchange };

	if (json_is_array(message))
		handle_batch(origin, message, bytes);
	else
		handle_message(&origin, message, bytes);
}

void
dispatch_line(struct client *client, struct exchange *exchange, const struct line *line)
{
	json_t *answer;

	if (is_blank(line))
		return;

	json_t *message = jsonrpc_parse(line, &answer);

	if (message != NULL)
		dispatch_message(client, exchange, message, line->size);
	else
		client_answer(&(struct origin){ .client = client, .exchange = exchange }, answer);
	json_decref(message);
}
