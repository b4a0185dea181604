/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - joins stream parts into notifications.
 *
 * Parts carry the output of a hostile program, which chooses their number and size, so both are
 * bounded here.  Output that is left out here is still in the result.
 */
#include "gateway/mcp/progress.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <string.h>

enum {
	INTERVAL_MS = 100,
	TEXT_BYTES = 65536,
};

static const double FAR = 1e15; /* from about here on, adding one to a double may change nothing */

void
progress_open(struct progress *p, const struct origin *origin, json_t *token)
{
	*p = (struct progress){ .origin = origin };
	if (json_is_string(token) || json_is_integer(token))
		p->token = json_incref(token);
}

/* channel: the channel whose text is sent; -1: none. */
static void
notify(struct progress *p, int channel)
{
	json_t *params = json_pack("{s:O, s:f}", "progressToken", p->token, "progress", p->value);

	if (channel >= 0) {
		json_object_set_new(params, "message",
		    json_stringn(p->channels[channel].text, p->channels[channel].size));
		json_object_set_new(params, "_meta",
		    json_pack("{s:s}", "cloister/channel", word_text(SET_channel, channel)));
		if (p->channels[channel].after_gap)
			json_object_set_new(
			    json_object_get(params, "_meta"), "cloister/gap", json_true());
		free(take_ptr(p->channels[channel].text));
		p->channels[channel].size = 0;
	}

	client_tell(p->origin, jsonrpc_notification("notifications/progress", params));
}

static void
publish(struct progress *p)
{
	bool sent = false;

	for (int channel = 0; channel < channel_COUNT && p->origin->revision->messages; channel++) {
		if (p->channels[channel].size == 0)
			continue;
		p->value += sent; /* the value must grow */
		notify(p, channel);
		sent = true;
	}
	if (!sent)
		notify(p, -1);
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
join(struct progress *p, int channel, const struct blob *text)
{
	typeof(p->channels[0]) *to = &p->channels[channel];
	bool fits = (to->size == 0 || !to->gap) && to->size + text->size <= TEXT_BYTES;

	if (text->size == 0)
		return;

	char *joined = fits ? realloc(to->text, to->size + text->size) : NULL;

	if (joined == NULL) {
		to->gap = true;
		return;
	}
	if (to->size == 0) {
		to->after_gap = to->gap;
		to->gap = false;
	}
	memcpy(joined + to->size, text->data, text->size);
	to->text = joined;
	to->size += text->size;
}

void
progress_part(struct progress *p, const struct stream_part *part)
{
	if (p->token == NULL)
		return;
	if (client_slow(p->origin)) {
		p->channels[part->channel].gap |= part->text.size > 0;
		return;
	}
	p->value =
	    part->progress > p->value && part->progress < FAR ? part->progress : p->value + 1;
	join(p, part->channel, &part->text);
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
	for (int channel = 0; channel < channel_COUNT; channel++)
		free(p->channels[channel].text);
	*p = (struct progress){ .origin = p->origin };
}
