/* SPDX-License-Identifier: Apache-2.0 */
/* inquire.c - the request waits as a pending one; the bus has validated the replies. */
#include "gateway/mcp/inquire.h"

#include "gateway/options.h"
#include "gateway/transport/account.h"

#include "common/base/auto.h"

enum {
	INQUIRE_MS = 60000,
};

struct inquiry {
	struct pending pending;
	struct request request; /* with references of its own */
	struct account *account;
	uint64_t ask;
	inquire_answer *answer;
};

static void
inquiry_free(struct inquiry *it)
{
	json_decref(it->request.params);
	json_decref(it->request.capabilities);
	json_decref(it->request.inputs);
	free(it);
}

static void
on_done(void *self, void *reply, const struct err *e)
{
	struct inquiry *it = self;
	struct origin origin;
	json_t *answer;

	it->account->count--;
	if (it->pending.silent) {
		client_end(&it->pending, NULL);
		inquiry_free(it);
		return;
	}
	client_hand_over(&it->pending, &origin);
	it->request.origin = origin;
	answer = it->answer(&it->request, reply, e);
	/* If it is pending again, it holds its own place in a batch. */
	if (answer != NULL || origin.batch != NULL)
		client_answer(&origin, answer);
	json_decref(origin.id);
	inquiry_free(it);
}

static void
cancel(struct pending *p)
{
	bus_cancel(((struct inquiry *)p)->ask);
}

static struct inquiry *
make(const struct request *r, inquire_answer *answer)
{
	struct account *account = r->origin.client->account;
	struct inquiry *it = account->count < options.max_in_flight ? calloc(1, sizeof *it) : NULL;

	if (it == NULL)
		return NULL;
	*it = (struct inquiry){ .request = *r, .account = account, .answer = answer };
	return it;
}

json_t *
inquire(const struct request *r, struct ask ask, inquire_answer *answer)
{
	struct inquiry *it = make(r, answer);
	struct err e;

	if (it == NULL)
		return jsonrpc_error(r->origin.id, RPC_INTERNAL, "too many calls are in progress");
	ask.owner = &it->account->owner;
	ask.timeout_ms =
	    options.call_timeout_ms < INQUIRE_MS ? (int64_t)options.call_timeout_ms : INQUIRE_MS;
	ask.self = it;
	ask.done = on_done;
	it->ask = bus_ask(&ask, &e);
	if (it->ask == 0) {
		free(it);
		return answer(r, NULL, &e);
	}
	it->account->count++;
	json_incref(it->request.params);
	json_incref(it->request.capabilities);
	json_incref(it->request.inputs);
	it->request.meta = json_object_get(r->params, "_meta");
	client_begin(&it->pending, &r->origin, cancel);
	return NULL;
}
