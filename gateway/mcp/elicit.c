/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elicit.c - questions to a client, and the way back to the handler that asked them.
 *
 * Neither answers nor what a client claims to have been asked are trusted.  Answers are treated as
 * what the user at that client said, and only for keys that were asked.
 */
#include "gateway/mcp/elicit.h"

#include "gateway/mcp/sealed.h"

#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"
#include "common/codec/large.h"

#include <stdio.h>
#include <string.h>

enum {
	STATE_S = 900,
	MAX_WAITING = 4096, /* requests of earlier revisions that wait for a user */
	ID_HEX = 33,
	ANSWER_BYTES = 32768, /* of one answer as JSON: it must fit into a state */
};

/* ---- the binding of a state ---- */

/* The method and its parameters, without those that change with each round. */
static void
purpose(const struct request *r, char text[128])
{
	json_t *params = r->params == NULL ? json_object() : json_copy(r->params);
	struct hash h;
	char hex[HASH_HEX];

	json_object_del(params, "_meta");
	json_object_del(params, "inputResponses");
	json_object_del(params, "requestState");
	auto_free char *shown = large_dump(params, JSON_COMPACT | JSON_SORT_KEYS);
	must(shown != NULL);
	hash_begin(&h);
	hash_add(&h, shown, strlen(shown));
	hash_end_hex(&h, hex);
	json_decref(params);
	snprintf(text, 128, "%s %s", r->method->name, hex);
}

/* ---- answers ---- */

/* Whether the value is a valid answer to that method. */
static bool
fits(const char *method, const json_t *result)
{
	static const struct {
		const char *method, *member;
		json_type type;
	} forms[] = {
		{ "elicitation/create", "action", JSON_STRING },
		{ "roots/list", "roots", JSON_ARRAY },
		{ "sampling/createMessage", "content", JSON_NULL }, /* an object, or an array */
	};

	for (size_t i = 0; json_is_object(result) && i < COUNT(forms); i++) {
		json_t *member = json_object_get(result, forms[i].member);

		if (strcmp(forms[i].method, method) == 0)
			return member != NULL &&
			       (forms[i].type == JSON_NULL || json_typeof(member) == forms[i].type);
	}
	return false;
}

static bool
small(const json_t *result)
{
	return json_dumpb(result, NULL, 0, JSON_COMPACT) <= ANSWER_BYTES;
}

json_t *
elicit_result(const struct request *r, const char *key)
{
	return json_object_get(json_object_get(r->inputs, key), "result");
}

json_t *
elicit_content(const struct request *r, const char *key)
{
	json_t *result = elicit_result(r, key), *content = json_object_get(result, "content");
	const char *action = json_string_value(json_object_get(result, "action"));

	return action != NULL && strcmp(action, "accept") == 0 && json_is_object(content) ? content
	                                                                                  : NULL;
}

/* inputs: {key: {"method": the method asked, "result": the answer, if there is one}} */
static void
add_answers(json_t *inputs, const json_t *given)
{
	const char *key;
	json_t *input;

	json_object_foreach(inputs, key, input)
	{
		json_t *result = json_object_get(given, key);

		if (json_object_get(input, "result") == NULL && result != NULL &&
		    fits(json_string_value(json_object_get(input, "method")), result) &&
		    small(result))
			json_object_set(input, "result", result);
	}
}

json_t *
elicit_read(struct request *r)
{
	json_t *state = json_object_get(r->params, "requestState");
	char about[128];
	struct err e;

	r->inputs = NULL;
	r->use.id[0] = '\0';
	if (r->origin.revision == NULL || !r->origin.revision->modern)
		return NULL;
	if (state == NULL) {
		if (json_is_object(json_object_get(r->params, "inputResponses")))
			r->inputs = json_object();
		return NULL;
	}
	if (!json_is_string(state))
		return method_refuse(r, "requestState must be a string");
	purpose(r, about);
	r->inputs =
	    sealed_read(about, r->origin.client->account, json_string_value(state), &r->use, &e);
	if (r->inputs == NULL)
		return method_refuse(r, "requestState: %s", e.text);
	add_answers(r->inputs, json_object_get(r->params, "inputResponses"));
	return NULL;
}

/* ---- 2026-07-28: the client retries ---- */

/* The questions so far, and the new ones. */
static json_t *
next_inputs(const struct request *r, const struct question *q, size_t count)
{
	json_t *inputs = r->inputs == NULL ? json_object() : json_copy(r->inputs);

	for (size_t i = 0; i < count; i++)
		if (json_object_get(inputs, q[i].key) == NULL)
			json_object_set_new(
			    inputs, q[i].key, json_pack("{s:s}", "method", q[i].method));
	return inputs;
}

static json_t *
ask_by_result(
    const struct request *r, const struct question *q, size_t count, const struct patience *unused)
{
	(void)unused;
	json_t *requests = json_object(), *inputs = next_inputs(r, q, count);
	char about[128];

	for (size_t i = 0; i < count; i++)
		if (elicit_result(r, q[i].key) == NULL)
			json_object_set_new(requests, q[i].key,
			    json_pack("{s:s, s:O*}", "method", q[i].method, "params", q[i].params));
	purpose(r, about);

	auto_free char *state = sealed_make(about, r->origin.client->account, inputs, STATE_S);

	json_decref(inputs);
	return method_complete_for(r,
	    json_pack("{s:s, s:o, s:s}", "resultType", "input_required", "inputRequests", requests,
		"requestState", state),
	    NULL);
}

/* ---- earlier revisions: requests to the client ---- */

struct elicitation {
	struct elicitation *next;
	struct pending pending;
	struct request request; /* with references of its own */
	uint64_t timer;
	struct account *account; /* that it counts for; NULL: no longer counted */
	json_t *(*late)(const struct request *);
	char id[ID_HEX]; /* the question's key follows it in the id that is sent */
};

static struct {
	struct elicitation *first;
	size_t count;
} waiting;

/* A waiting request is bounded and counted as a call in progress. */
static bool
has_room(const struct request *r)
{
	const struct account *account = r->origin.client->account;

	return waiting.count < MAX_WAITING && account->count < options.max_in_flight &&
	       (account->count == 0 || account->held + r->bytes <= 2 * options.max_message_bytes);
}

static void
count(struct elicitation *it)
{
	it->account = it->request.origin.client->account;
	it->account->count++;
	it->account->held += it->request.bytes;
}

static void
uncount(struct elicitation *it)
{
	if (it->account == NULL)
		return;
	it->account->count--;
	it->account->held -= it->request.bytes;
	it->account = NULL;
}

static void
forget(struct elicitation *it)
{
	struct elicitation **at = &waiting.first;

	while (*at != it)
		at = &(*at)->next;
	*at = it->next;
	waiting.count--;
	uncount(it);
	loop_unset(it->timer);
	json_decref(it->request.params);
	json_decref(it->request.capabilities);
	json_decref(it->request.inputs);
	free(it);
}

static void
cancel(struct pending *p)
{
	struct elicitation *it =
	    (struct elicitation *)((char *)p - offsetof(struct elicitation, pending));

	uncount(it); /* before the answer, which may free the client */
	client_end(p, jsonrpc_error(p->origin.id, RPC_INTERNAL, "the server is shutting down"));
	forget(it);
}

static void
on_timer(void *self)
{
	struct elicitation *it = self;
	struct request r = it->request;

	it->timer = 0;
	r.origin = it->pending.origin;
	uncount(it);
	client_end(&it->pending,
	    it->late != NULL ? it->late(&r)
			     : jsonrpc_error(r.origin.id, RPC_INTERNAL,
				   "the client did not answer the server's request within %u s "
				   "(elicit_timeout_ms)",
				   (unsigned)(options.elicit_timeout_ms / 1000)));
	forget(it);
}

static int64_t
time_of(const struct patience *p)
{
	uint64_t most = options.elicit_timeout_ms;

	return (int64_t)(p != NULL && p->wait_ms < most ? p->wait_ms : most);
}

static struct elicitation *
keep(const struct request *r, const struct patience *patience, json_t *inputs)
{
	bool room = has_room(r);
	struct elicitation *it = room ? calloc(1, sizeof *it) : NULL;

	if (it == NULL) {
		json_decref(inputs);
		return NULL;
	}
	it->request = *r;
	it->request.params = json_incref(r->params);
	it->request.meta = json_object_get(r->params, "_meta");
	it->request.capabilities = json_incref(r->capabilities);
	it->request.inputs = inputs;
	it->timer = loop_after(time_of(patience), on_timer, it);
	it->late = patience != NULL ? patience->late : NULL;
	hash_random_hex(it->id, sizeof it->id);
	count(it);
	it->next = waiting.first;
	waiting.first = it;
	waiting.count++;
	client_begin(&it->pending, &r->origin, cancel);
	return it;
}

static json_t *
ask_by_request(const struct request *r, const struct question *q, size_t count,
    const struct patience *patience)
{
	struct elicitation *it = keep(r, patience, next_inputs(r, q, count));

	if (it == NULL)
		return jsonrpc_error(
		    r->origin.id, RPC_INTERNAL, "too many requests wait for an answer of a user");
	for (size_t i = 0; i < count; i++) {
		char id[ID_HEX + 80];

		if (elicit_result(r, q[i].key) != NULL)
			continue;
		snprintf(id, sizeof id, "%s.%.64s", it->id, q[i].key);
		client_tell(
		    &it->pending.origin, json_pack("{s:s, s:s, s:s, s:O*}", "jsonrpc", "2.0", "id",
					     id, "method", q[i].method, "params", q[i].params));
	}
	return NULL;
}

/* All answers have arrived: runs the handler again from its beginning. */
static void
resume(struct elicitation *it)
{
	struct request r = it->request;
	struct origin origin;

	client_hand_over(&it->pending, &origin);
	r.origin = origin;
	uncount(it);

	json_t *answer = r.method->handle(&r);

	forget(it);
	/* If it is pending again, it holds its own place in a batch. */
	if (answer != NULL || origin.batch != NULL)
		client_answer(&origin, answer);
	json_decref(origin.id);
}

static bool
complete(const json_t *inputs)
{
	const char *key;
	json_t *input;

	json_object_foreach((json_t *)(uintptr_t)inputs, key,
	    input) if (json_object_get(input, "result") == NULL) return false;
	return true;
}

/* A client that answers the request itself with an error has not accepted. */
static void
add_response(json_t *inputs, const char *key, const struct rpc *rpc)
{
	json_t *input = json_object_get(inputs, key);
	json_t *given = json_pack("{s:O*}", key, rpc->result);

	add_answers(inputs, given);
	json_decref(given);
	if (rpc->result == NULL && input != NULL && json_object_get(input, "result") == NULL)
		json_object_set_new(input, "result", json_pack("{s:s}", "action", "cancel"));
}

void
elicit_response(struct client *client, const struct rpc *rpc)
{
	const char *id = json_string_value(rpc->id);
	struct elicitation *it = waiting.first;

	if (id == NULL || strlen(id) < ID_HEX)
		return;
	while (it != NULL &&
	       (it->pending.origin.client != client || memcmp(it->id, id, ID_HEX - 1) != 0))
		it = it->next;
	if (it == NULL || id[ID_HEX - 1] != '.')
		return;
	add_response(it->request.inputs, id + ID_HEX, rpc);
	if (complete(it->request.inputs))
		resume(it);
}

/* ---- asking ---- */

/* The capabilities that the client must declare and has not; NULL: it has declared all. */
static json_t *
lacking(const struct request *r, const struct question *q, size_t count)
{
	static const struct {
		const char *method, *capability;
	} rows[] = {
		{ "elicitation/create", "elicitation" },
		{ "roots/list", "roots" },
		{ "sampling/createMessage", "sampling" },
	};
	json_t *missing = NULL;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < COUNT(rows); k++) {
			if (strcmp(rows[k].method, q[i].method) != 0 ||
			    method_declared(r, rows[k].capability, NULL))
				continue;
			if (missing == NULL)
				missing = json_object();
			json_object_set_new(missing, rows[k].capability, json_object());
		}
	return missing;
}

/* Accepts answers that come before the question: a round trip would not make them more reliable. */
static void
take_early(const struct request *r, const struct question *q, size_t count)
{
	if (r->inputs == NULL || !r->origin.revision->modern)
		return;
	for (size_t i = 0; i < count; i++)
		if (json_object_get(r->inputs, q[i].key) == NULL)
			json_object_set_new(
			    r->inputs, q[i].key, json_pack("{s:s}", "method", q[i].method));
	add_answers(r->inputs, json_object_get(r->params, "inputResponses"));
}

static bool
ask(const struct request *r, const struct question *q, size_t count,
    const struct patience *patience, json_t **answer)
{
	json_t *missing = lacking(r, q, count);
	size_t answered = 0;

	while (answered < count && elicit_result(r, q[answered].key) != NULL)
		answered++;
	*answer = NULL;
	if (missing != NULL)
		*answer = method_lacks(r, missing);
	else if (answered < count)
		*answer = (r->origin.revision->modern ? ask_by_result : ask_by_request)(
		    r, q, count, patience);
	for (size_t i = 0; i < count; i++)
		json_decref(q[i].params);
	return missing == NULL && answered == count;
}

bool
elicit(const struct request *r, const struct question *q, size_t count, json_t **answer)
{
	take_early(r, q, count);
	return ask(r, q, count, NULL, answer);
}

bool
elicit_shown(const struct request *r, const struct question *q, const struct patience *patience,
    json_t **answer)
{
	return ask(r, q, 1, patience, answer);
}

json_t *
elicit_form(const char *message, json_t *schema)
{
	return json_pack("{s:s, s:o}", "message", message, "requestedSchema", schema);
}

bool
elicit_consent(const struct request *r, const char *message, bool *yes, json_t **answer)
{
	json_t *schema = json_pack("{s:s, s:{s:{s:s, s:s, s:s, s:b}}, s:[s]}", "type", "object",
	    "properties", "confirm", "type", "boolean", "title", "Confirm", "description",
	    "Proceed. This cannot be undone.", "default", 0, "required", "confirm");
	const struct question q = { "confirm", "elicitation/create", elicit_form(message, schema) };

	if (!elicit_shown(r, &q, NULL, answer))
		return false;
	*yes = json_is_true(json_object_get(elicit_content(r, q.key), q.key));
	return true;
}
