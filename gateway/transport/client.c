/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - sends answers, one by one or collected into a batch. */
#include "gateway/transport/client.h"

#include "common/base/auto.h"

struct batch {
	size_t places;
	json_t *answers;
};

/* ---- batches ---- */

struct batch *
client_batch(void)
{
	struct batch *batch = calloc(1, sizeof *batch);

	if (batch == NULL)
		return NULL;
	*batch = (struct batch){ .places = 1, .answers = json_array() };
	if (batch->answers != NULL)
		return batch;
	free(batch);
	return NULL;
}

void
client_batch_hold(struct batch *batch)
{
	if (batch != NULL)
		batch->places++;
}

static void
answer(const struct origin *to, const json_t *message)
{
	to->client->by->answer(to->client, to->exchange, message);
}

/* A batch of only notifications gets no reply. */
static void
add_to_batch(const struct origin *to, json_t *message)
{
	struct batch *batch = to->batch;

	if (message != NULL)
		json_array_append_new(batch->answers, message);
	if (--batch->places > 0)
		return;
	answer(to, json_array_size(batch->answers) > 0 ? batch->answers : NULL);
	json_decref(batch->answers);
	free(batch);
}

/* ---- messages ---- */

void
client_answer(const struct origin *to, json_t *message)
{
	if (to->batch != NULL) {
		add_to_batch(to, message);
		return;
	}
	answer(to, message);
	json_decref(message);
}

void
client_tell(const struct origin *to, json_t *message)
{
	if (message != NULL)
		to->client->by->send(to->client, to->exchange, message);
	json_decref(message);
}

bool
client_slow(const struct origin *to)
{
	return to->client->by->slow(to->client, to->exchange);
}

/* ---- pending requests ---- */

void
client_begin(struct pending *p, const struct origin *origin, void (*cancel)(struct pending *))
{
	*p = (struct pending){
		.next = origin->client->pending, .origin = *origin, .cancel = cancel
	};
	json_incref(p->origin.id);
	origin->client->pending = p;
	client_batch_hold(origin->batch);
}

void
client_hand_over(struct pending *p, struct origin *origin)
{
	struct pending **at = &p->origin.client->pending;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	*origin = p->origin;
	p->origin.id = NULL;
}

void
client_end(struct pending *p, json_t *message)
{
	struct origin origin;

	client_hand_over(p, &origin);
	if (p->silent) {
		json_decref(message);
		message = NULL;
	}
	client_answer(&origin, message);
	json_decref(origin.id);
}

struct pending *
client_find(const struct client *client, const json_t *id)
{
	struct pending *p = client->pending;

	while (p != NULL && !json_equal(p->origin.id, id))
		p = p->next;
	return p;
}

void
client_cancel(struct client *client, const json_t *id)
{
	struct pending *p = client_find(client, id);

	if (p == NULL || p->silent)
		return;
	p->silent = true;
	p->cancel(p);
}

void
client_drain(struct client *client)
{
	struct pending *next;

	for (struct pending *p = client->pending; p != NULL; p = next) {
		next = p->next;
		if (p->endless)
			p->cancel(p);
	}
}

void
client_give_up(struct client *client, bool gone)
{
	struct pending *next;

	for (struct pending *p = client->pending; p != NULL; p = next) {
		next = p->next;
		p->silent |= gone;
		p->cancel(p);
	}
}

void
client_close(struct client *client)
{
	if (client->closed != NULL)
		client->closed(client);
	json_decref(take_ptr(client->capabilities));
}
