/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - finds the method and the revision of a message.
 *
 * A request that claims a version is served by that version, statelessly.  A request that claims
 * none belongs to the revision that initialize agreed on.  Nothing that a client sends is trusted.
 */
#include "gateway/mcp/dispatch.h"

#include "gateway/mcp/elicit.h"
#include "gateway/mcp/logging.h"
#include "gateway/mcp/methods.h"
#include "gateway/mcp/result.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <ctype.h>
#include <malloc.h>
#include <string.h>

enum {
	LARGE_BYTES = 1 << 18, /* bytes of a message whose parsed values take many times as much */
	TRIM_MS = 200,         /* after such a message, the heap is trimmed */
	LIGHT_BYTES = 4096,    /* up to here the number of values does not matter */
	/* Bytes that jansson and the heap use for a value, for an item of an array, for a member
	 * of an object. */
	VALUE_COST = 48,
	ITEM_COST = 8,
	MEMBER_COST = 96,
};

static bool trimming;

/* Sets the revision and the client's capabilities; NULL, or the answer to a request of no
 * supported revision. */
static json_t *
find_revision(struct request *r)
{
	const struct client *client = r->origin.client;
	json_t *answer;

	r->meta = json_object_get(r->params, "_meta");
	r->origin.revision = revision_claimed(r->origin.id, r->params, &answer);
	if (answer != NULL)
		return answer;
	if (r->origin.revision != NULL) {
		r->capabilities = json_object_get(r->meta, REVISION_META "clientCapabilities");
	} else {
		r->origin.revision = client->revision;
		r->capabilities = client->capabilities;
	}
	return NULL;
}

/* NULL, or a refusal.  A transport refuses earlier and in its own way; this check is the last. */
static json_t *
check_scopes(const struct request *r)
{
	struct err e;

	if ((r->method->scopes(r->params) & ~r->origin.client->scopes) == 0)
		return NULL;
	err_set(&e, ERR_denied, "the credentials lack the scope for %s", r->method->name);
	return result_rpc_error(r->origin.id, &e);
}

static json_t *
handle_request(struct request *r, const char *name)
{
	json_t *answer;

	if (client_find(r->origin.client, r->origin.id) != NULL)
		return jsonrpc_error(r->origin.id, RPC_INVALID,
		    "Invalid Request: the id is that of a request in progress; choose another");
	answer = find_revision(r);
	if (answer != NULL)
		return answer;
	r->method = methods_find(name, r->origin.revision);
	if (r->method == NULL && r->origin.revision == NULL)
		return revision_unclaimed(r->origin.id);
	if (r->method == NULL)
		return jsonrpc_error(r->origin.id, RPC_METHOD, "Method not found: %.128s", name);
	answer = check_scopes(r);
	if (answer == NULL && r->origin.revision != NULL)
		answer = logging_ask(r);
	if (answer == NULL)
		answer = elicit_read(r);
	if (answer == NULL)
		answer = r->method->handle(r);
	json_decref(r->inputs);
	return answer;
}

/* Estimates the memory of parsed values.  scan.c bounds their depth. */
static size_t
weigh(const json_t *value)
{
	size_t sum = VALUE_COST + json_string_length(value), i;
	const char *key;
	json_t *each;

	json_array_foreach(value, i, each) sum += ITEM_COST + weigh(each);
	json_object_foreach((json_t *)(uintptr_t)value, key, each) sum +=
	    MEMBER_COST + strlen(key) + weigh(each);
	return sum;
}

/* A pending request holds its own place in a batch. */
static void
handle_message(const struct origin *to, json_t *message, size_t bytes)
{
	struct rpc rpc;
	json_t *answer = jsonrpc_read(message, &rpc);
	struct request r = { .origin = *to, .params = rpc.params, .bytes = bytes };
	bool asks = answer == NULL && rpc.kind == RPC_request;

	r.origin.id = rpc.kind == RPC_response ? NULL : rpc.id;
	if (answer == NULL && rpc.kind == RPC_notification)
		methods_notify(to->client, rpc.method, rpc.params);
	if (answer == NULL && rpc.kind == RPC_response)
		elicit_response(to->client, &rpc);
	if (asks && bytes > LIGHT_BYTES)
		r.bytes = weigh(message);
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
	if (client->revision == NULL || !client->revision->batches)
		return "this protocol version has no batches; send each message separately";
	if (json_array_size(messages_) == 0)
		return "the batch is empty";
	if (json_array_size(messages_) > DISPATCH_BATCH)
		return "the batch is over the limit of 256 messages";
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
	json_array_foreach(messages_, i, message) handle_message(&origin, message, bytes);
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

/* Trims the heap after a message of many values, later: a small allocation made in between may
 * still hold the top of the heap. */
static void
give_back(void *unused)
{
	(void)unused;
	trimming = false;
	malloc_trim(0);
}

void
dispatch_message(struct client *client, struct exchange *exchange, json_t *message, size_t bytes)
{
	struct origin origin = { .client = client, .exchange = exchange };

	if (bytes >= LARGE_BYTES && !trimming) {
		trimming = true;
		loop_after(TRIM_MS, give_back, NULL);
	}
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
