/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errand.c - an errand is the client of the calls it makes; their answers come to its slots.
 *
 * Replies were checked by the bus; what they hold was written by hostile programs.
 */
#include "gateway/mcp/errand.h"

#include "gateway/mcp/calls.h"

#include "common/base/auto.h"

#include <stddef.h>
#include <string.h>

/* What calls.h knows as an exchange: where the answer to one call goes. */
struct slot {
	struct reply reply;
	bool done;
};

struct errand {
	struct pending pending; /* of the request, once it is one */
	struct client client;   /* of the calls */
	struct request request; /* with references of its own */
	struct slot slots[ERRAND_WANTS];
	size_t left;
	bool begun;
	errand_compose *compose;
	json_t *context;
};

static struct errand *
errand_of(struct client *client)
{
	return (struct errand *)((char *)client - offsetof(struct errand, client));
}

static void
errand_free(struct errand *errand)
{
	for (size_t i = 0; i < ERRAND_WANTS; i++) {
		json_decref(errand->slots[i].reply.value);
		json_decref(errand->slots[i].reply.error);
	}
	json_decref(errand->request.params);
	json_decref(errand->request.origin.id);
	json_decref(errand->context);
	free(errand);
}

static json_t *
compose(struct errand *errand)
{
	struct reply replies[ERRAND_WANTS];

	for (size_t i = 0; i < ERRAND_WANTS; i++)
		replies[i] = errand->slots[i].reply;
	return errand->compose(&errand->request, replies, errand->context);
}

static void
take(struct errand *errand, struct slot *slot, const json_t *message)
{
	slot->reply.value = json_incref(json_object_get(message, "result"));
	slot->reply.error = json_incref(json_object_get(message, "error"));
	slot->done = true;
	if (--errand->left > 0 || !errand->begun)
		return;
	client_end(&errand->pending, errand->pending.silent ? NULL : compose(errand));
	errand_free(errand);
}

/* ---- as the transport of its calls ---- */

static void
on_answer(struct client *client, struct exchange *slot, const json_t *message)
{
	take(errand_of(client), (struct slot *)slot, message);
}

static void
ignore(struct client *client, struct exchange *slot, const json_t *message)
{
	(void)client;
	(void)slot;
	(void)message;
}

static bool
is_slow(const struct client *client, const struct exchange *slot)
{
	(void)client;
	(void)slot;
	return true;
}

static const struct transport by_errand = { .send = ignore, .answer = on_answer, .slow = is_slow };

/* ---- its life ---- */

static void
cancel(struct pending *p)
{
	client_give_up(&((struct errand *)p)->client, true);
}

static void
ask(struct errand *errand, size_t i, const struct want *want)
{
	struct call_in call = {
		.origin = { .client = &errand->client,
		    .exchange = (struct exchange *)&errand->slots[i],
		    .era = era_modern(),
		    .id = json_integer((json_int_t)i) },
		.tool = want->message,
		.arguments = want->arguments,
		.meta = errand->request.meta,
		.as = CALLS_VALUE,
		.bytes = i == 0 ? errand->request.bytes : 0, /* which the request holds, once */
	};
	json_t *answer = calls_begin(&call);

	if (answer != NULL)
		take(errand, &errand->slots[i], answer);
	json_decref(answer);
	json_decref(call.origin.id);
	json_decref(want->arguments);
}

static struct errand *
make(const struct request *r, errand_compose *how, json_t *context)
{
	struct errand *errand = calloc(1, sizeof *errand);

	if (errand == NULL) {
		json_decref(context);
		return NULL;
	}
	errand->client = (struct client){ .by = &by_errand,
		.account = r->origin.client->account,
		.scopes = r->origin.client->scopes };
	errand->request = *r;
	errand->request.params = json_incref(r->params);
	errand->request.origin.id = json_incref(r->origin.id);
	errand->request.capabilities = errand->request.inputs = NULL;
	errand->compose = how;
	errand->context = context;
	return errand;
}

json_t *
errand_begin(const struct request *r, const struct want *wants, size_t count, errand_compose *how,
    json_t *context)
{
	struct errand *errand = make(r, how, context);

	must(count <= ERRAND_WANTS);
	if (errand == NULL) {
		for (size_t i = 0; i < count; i++)
			json_decref(wants[i].arguments);
		return jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
	}
	errand->left = count;
	for (size_t i = 0; i < count; i++)
		ask(errand, i, &wants[i]);
	if (errand->left > 0) {
		errand->begun = true;
		client_begin(&errand->pending, &r->origin, cancel);
		return NULL;
	}
	json_t *answer = compose(errand);
	errand_free(errand);
	return answer;
}

/* ---- errors ---- */

static bool
is_code(const struct reply *reply, const char *const *codes)
{
	const char *code =
	    json_string_value(json_object_get(json_object_get(reply->error, "data"), "code"));

	for (; code != NULL && *codes != NULL; codes++)
		if (strcmp(code, *codes) == 0)
			return true;
	return false;
}

bool
errand_absent(const struct reply *reply)
{
	static const char *const codes[] = { "not_found", "session_expired", "path_not_allowed",
		"invalid_argument", NULL };

	return is_code(reply, codes);
}

json_t *
errand_fail(const struct request *r, const struct reply *reply)
{
	json_t *error = reply->error;
	const char *text = json_string_value(json_object_get(error, "message"));

	return jsonrpc_error_data(r->origin.id,
	    (int)json_integer_value(json_object_get(error, "code")),
	    text != NULL ? text : "no reply came", json_incref(json_object_get(error, "data")));
}
