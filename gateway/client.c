/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - answers on their way out, alone or gathered into a batch. */
#include "gateway/client.h"

#include "common/auto.h"
#include "common/log.h"

struct batch {
	size_t places;
	json_t *answers;
};

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

/* A batch of notifications only is answered by nothing at all. */
static void
add_to_batch(const struct origin *to, json_t *message)
{
	struct batch *batch = to->batch;

	if (message != NULL)
		json_array_append_new(batch->answers, message);
	if (--batch->places > 0)
		return;
	if (json_array_size(batch->answers) > 0)
		to->client->send(to->client, batch->answers);
	json_decref(batch->answers);
	free(batch);
}

void
client_answer(const struct origin *to, json_t *message)
{
	if (to->batch != NULL) {
		add_to_batch(to, message);
		return;
	}
	if (message != NULL)
		to->client->send(to->client, message);
	json_decref(message);
}
