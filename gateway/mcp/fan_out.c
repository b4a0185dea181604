/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan_out.c - a fan-out acts as the client of the calls that it makes; its slots receive their
 * answers.
 *
 * The bus has validated the replies; their contents come from hostile programs.
 */
#include "gateway/mcp/fan_out.h"

#include "gateway/mcp/calls.h"

#include "common/base/auto.h"

#include <stddef.h>
#include <string.h>

/* The struct exchange of calls.h: the destination of the answer to one call. */
struct slot {
	struct reply reply;
	bool done;
};

struct fan_out {
	struct pending pending; /* of the request, once it is pending */
	struct client client;   /* of the calls */
	struct request request; /* with references of its own */
	struct slot slots[FAN_OUT_WANTS];
	size_t left;
	bool begun;
	fan_out_compose *compose;
	json_t *context;
};

static struct fan_out *
fan_out_of(struct client *client)
{
	return (struct fan_out *)((char *)client - offsetof(struct fan_out, client));
}

static void
fan_out_free(struct fan_out *fan_out)
{
	for (size_t i = 0; i < FAN_OUT_WANTS; i++) {
		json_decref(fan_out->slots[i].reply.value);
		json_decref(fan_out->slots[i].reply.error);
	}
	json_decref(fan_out->request.params);
	json_decref(fan_out->request.origin.id);
	json_decref(fan_out->context);
	free(fan_out);
}

static json_t *
compose(struct fan_out *fan_out)
{
	struct reply replies[FAN_OUT_WANTS];

	for (size_t i = 0; i < FAN_OUT_WANTS; i++)
		replies[i] = fan_out->slots[i].reply;
	return fan_out->compose(&fan_out->request, replies, fan_out->context);
}

static void
take(struct fan_out *fan_out, struct slot *slot, const json_t *message)
{
	slot->reply.value = json_incref(json_object_get(message, "result"));
	slot->reply.error = json_incref(json_object_get(message, "error"));
	slot->done = true;
	if (--fan_out->left > 0 || !fan_out->begun)
		return;
	client_end(&fan_out->pending, fan_out->pending.silent ? NULL : compose(fan_out));
	fan_out_free(fan_out);
}

/* ---- as the transport of its calls ---- */

static void
on_answer(struct client *client, struct exchange *slot, const json_t *message)
{
	take(fan_out_of(client), (struct slot *)slot, message);
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

static const struct transport by_fan_out = { .send = ignore, .answer = on_answer, .slow = is_slow };

/* ---- lifetime ---- */

static void
cancel(struct pending *p)
{
	client_give_up(&((struct fan_out *)p)->client, true);
}

static void
ask(struct fan_out *fan_out, size_t i, const struct want *want)
{
	struct call_in call = {
		.origin = { .client = &fan_out->client,
		    .exchange = (struct exchange *)&fan_out->slots[i],
		    .revision = revision_modern(),
		    .id = json_integer((json_int_t)i) },
		.tool = want->message,
		.arguments = want->arguments,
		.meta = fan_out->request.meta,
		.as = CALLS_VALUE,
		.bytes = i == 0 ? fan_out->request.bytes : 0, /* counted once */
	};
	json_t *answer = calls_begin(&call);

	if (answer != NULL)
		take(fan_out, &fan_out->slots[i], answer);
	json_decref(answer);
	json_decref(call.origin.id);
	json_decref(want->arguments);
}

static struct fan_out *
make(const struct request *r, fan_out_compose *how, json_t *context)
{
	struct fan_out *fan_out = calloc(1, sizeof *fan_out);

	if (fan_out == NULL) {
		json_decref(context);
		return NULL;
	}
	fan_out->client = (struct client){ .by = &by_fan_out,
		.account = r->origin.client->account,
		.scopes = r->origin.client->scopes };
	fan_out->request = *r;
	fan_out->request.params = json_incref(r->params);
	fan_out->request.origin.id = json_incref(r->origin.id);
	fan_out->request.capabilities = fan_out->request.inputs = NULL;
	fan_out->compose = how;
	fan_out->context = context;
	return fan_out;
}

json_t *
fan_out_begin(const struct request *r, const struct want *wants, size_t count, fan_out_compose *how,
    json_t *context)
{
	struct fan_out *fan_out = make(r, how, context);

	must(count <= FAN_OUT_WANTS);
	if (fan_out == NULL) {
		for (size_t i = 0; i < count; i++)
			json_decref(wants[i].arguments);
		return jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
	}
	fan_out->left = count;
	for (size_t i = 0; i < count; i++)
		ask(fan_out, i, &wants[i]);
	if (fan_out->left > 0) {
		fan_out->begun = true;
		client_begin(&fan_out->pending, &r->origin, cancel);
		return NULL;
	}
	json_t *answer = compose(fan_out);
	fan_out_free(fan_out);
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
fan_out_absent(const struct reply *reply)
{
	static const char *const codes[] = { "not_found", "session_expired", "path_not_allowed",
		"invalid_argument", NULL };

	return is_code(reply, codes);
}

json_t *
fan_out_fail(const struct request *r, const struct reply *reply)
{
	json_t *error = reply->error;
	const char *text = json_string_value(json_object_get(error, "message"));

	return jsonrpc_error_data(r->origin.id,
	    (int)json_integer_value(json_object_get(error, "code")),
	    text != NULL ? text : "no reply", json_incref(json_object_get(error, "data")));
}
