/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - stream parts joined into notifications.
 *
 * Parts carry the output of a hostile program, so their number and size are its choice: both are
 * bounded here.  What is left out is not lost, it stands in the result.
 */
#include "gateway/progress.h"

#include "common/auto.h"
#include "common/loop.h"

#include <string.h>

enum {
	INTERVAL_MS = 100,
	TEXT_BYTES = 65536,
};

void
progress_open(struct progress *p, const struct origin *origin, json_t *token)
{
	*p = (struct progress){ .origin = origin };
	if (json_is_string(token) || json_is_integer(token))
		p->token = json_incref(token);
}

static void
publish(struct progress *p)
{
	json_t *params = json_pack("{s:O, s:f}", "progressToken", p->token, "progress", p->value);

	if (p->size > 0 && p->origin->era->messages)
		json_object_set_new(params, "message", json_stringn(p->text, p->size));
	json_t *message = jsonrpc_notification("notifications/progress", params);
	if (message != NULL)
		p->origin->client->send(p->origin->client, message);
	json_decref(message);
	free(take_ptr(p->text));
	p->size = 0;
	p->sent_ms = loop_now_ms();
}

static void
on_timer(void *self)
{
	struct progress *p = self;

	p->timer = 0;
	publish(p);
}

static void
join(struct progress *p, const struct blob *text)
{
	if (text->size == 0 || p->size + text->size > TEXT_BYTES)
		return;

	char *joined = realloc(p->text, p->size + text->size);

	if (joined == NULL)
		return;
	memcpy(joined + p->size, text->data, text->size);
	p->text = joined;
	p->size += text->size;
}

void
progress_part(struct progress *p, const struct stream_part *part)
{
	if (p->token == NULL || p->origin->client->slow(p->origin->client))
		return;
	p->value = part->progress > p->value ? part->progress : p->value + 1;
	join(p, &part->text);
	if (p->timer != 0)
		return;

	int64_t wait_ms = p->sent_ms + INTERVAL_MS - loop_now_ms();

	if (p->sent_ms == 0 || wait_ms <= 0)
		publish(p);
	else
		p->timer = loop_after(wait_ms, on_timer, p);
}

void
progress_close(struct progress *p)
{
	loop_unset(p->timer);
	json_decref(p->token);
	free(p->text);
	*p = (struct progress){ .origin = p->origin };
}
