/* SPDX-License-Identifier: Apache-2.0 */
/* tricks.c - each trick breaks one promise of an honest server, or keeps it in the worst way.
 * Runs in tests only. */
#include "tests/hostile/tricks.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <stdio.h>
#include <string.h>

enum {
	FLOOD = 1500, /* parts; more than the queue of a connection holds */
	RECENT = 16,
};

static struct asked recent[RECENT];
static size_t nrecent;

static void
say(const struct asked *a, enum frame frame, uint64_t id, enum msg_id message,
    struct packed *content)
{
	line_send(a->line, &a->from,
	    (struct envelope){
		.frame = (int)frame, .id = id, .message = (char *)messages[message].name },
	    content);
}

static enum msg_id
reply_to(const struct asked *a)
{
	return messages[a->message].reply;
}

static void
reply(struct dice *d, const struct asked *a, enum forge how, size_t budget)
{
	struct packed content;

	forge_message(d, reply_to(a), how, budget, &content);
	say(a, frame_reply, a->id, reply_to(a), &content);
}

static void
part(struct dice *d, const struct asked *a, enum forge how)
{
	struct packed content;

	forge_message(d, MSG_stream_part, how, FORGE_SMALL, &content);
	say(a, frame_stream, a->id, MSG_stream_part, &content);
}

static void
fail(struct dice *d, const struct asked *a, uint64_t id)
{
	struct failure f = { .text = (char *)forge_text(d, 200),
		.retry_ms = dice_below(d, 3600001) };
	struct packed content;
	struct err e;

	f.code = (char *)(dice_once(d, 3) ? "none"
			  : dice_once(d, 2)
			      ? "no_such_code"
			      : err_name((enum err_code)(1 + dice_below(d, ERR_COUNT - 1))));
	must(wire_encode(MSG_failure, &f, &content, &e) == 0);
	say(a, frame_failure, id, MSG_failure, &content);
}

/* ---- the reply itself ---- */

static void
plain(struct dice *d, const struct asked *a)
{
	reply(d, a, FORGE_plain, FORGE_SMALL);
}

static void
edge(struct dice *d, const struct asked *a)
{
	reply(d, a, FORGE_edge, FORGE_SMALL);
}

static void
broken(struct dice *d, const struct asked *a)
{
	reply(d, a, FORGE_broken, FORGE_SMALL);
}

static void
large(struct dice *d, const struct asked *a)
{
	reply(d, a, FORGE_full, FORGE_LARGE);
}

static void
other(struct dice *d, const struct asked *a)
{
	enum msg_id message = (enum msg_id)(1 + dice_below(d, MSG_COUNT - 1));
	struct packed content;

	forge_message(d, message, FORGE_plain, FORGE_SMALL, &content);
	say(a, frame_reply, a->id, message, &content);
}

static void
failure(struct dice *d, const struct asked *a)
{
	struct packed content;

	if (dice_once(d, 2)) {
		fail(d, a, a->id);
		return;
	}
	forge_message(
	    d, MSG_failure, dice_once(d, 2) ? FORGE_edge : FORGE_broken, FORGE_SMALL, &content);
	say(a, frame_failure, a->id, MSG_failure, &content);
}

/* Truncated, too long, or with flipped bits. */
static void
noise(struct dice *d, const struct asked *a)
{
	struct packed content;

	forge_message(d, reply_to(a), FORGE_plain, FORGE_SMALL, &content);

	struct blob *hit = &content.body;
	uint8_t *bytes = hit->data;

	if (hit->size > 0 && dice_once(d, 3))
		hit->size = dice_below(d, hit->size);
	else
		for (size_t i = 1 + dice_below(d, 4); i-- > 0 && hit->size > 0;)
			bytes[dice_below(d, hit->size)] ^= (uint8_t)(1u << dice_below(d, 8));
	say(a, frame_reply, a->id, reply_to(a), &content);
}

/* ---- frames ---- */

/* Empty frames, none, too many, or an invalid envelope. */
static void
frames(struct dice *d, const struct asked *a)
{
	static char nothing[1];
	size_t count =
	    dice_once(d, 4) ? WIRE_MAX_BLOBS + 2 + dice_below(d, 4000) : dice_below(d, 5);
	auto_free struct blob *all = calloc(count + 1, sizeof *all);
	struct packed head;

	must(all != NULL);
	forge_message(
	    d, MSG_envelope, dice_once(d, 2) ? FORGE_edge : FORGE_broken, FORGE_SMALL, &head);
	for (size_t i = 0; i < count; i++)
		all[i] = (struct blob){ nothing, dice_below(d, 2) };
	if (dice_once(d, 2))
		all[0] = head.body;
	line_frames(a->line, &a->from, all, count);
	packed_clear(&head);
}

/* Blobs without a reference, or a missing frame. */
static void
blobs(struct dice *d, const struct asked *a)
{
	struct packed content;

	forge_message(d, reply_to(a), FORGE_plain, FORGE_SMALL, &content);
	if (content.count > 0 && dice_once(d, 2))
		blob_clear(&content.blobs[--content.count]);
	else
		for (size_t n = 1 + dice_below(d, 900); n-- > 0 && content.count < WIRE_MAX_BLOBS;)
			content.blobs[content.count++] = blob_copy("x", 1);
	say(a, frame_reply, a->id, reply_to(a), &content);
}

/* Frames that only the other side sends, unknown frames, and invalid numbers. */
static void
roles(struct dice *d, const struct asked *a)
{
	static const enum frame words[] = { frame_request, frame_cancel, frame_hello,
		frame_heartbeat };
	static const enum msg_id ids[] = { MSG_heartbeat, MSG_hello, MSG_nothing, MSG_failure };

	for (size_t i = 1 + dice_below(d, 8); i-- > 0;) {
		struct packed content;
		enum msg_id message = ids[dice_below(d, COUNT(ids))];

		forge_message(
		    d, message, (enum forge)dice_below(d, FORGE_full), FORGE_SMALL, &content);
		say(a, words[dice_below(d, COUNT(words))],
		    dice_once(d, 2) ? a->id : dice_below(d, 5000), message, &content);
	}
	edge(d, a);
}

/* Sends further hellos with other names, some of which belong to others. */
static void
greetings(struct dice *d, const struct asked *a)
{
	static const char *const names[] = { "1", "2", "other", "1" };

	for (uint64_t id = 0; id < 400; id++)
		line_hello(a->line, &a->from, id % 40, edge_peer_name(a->line->edge->server),
		    names[dice_below(d, COUNT(names))]);
	plain(d, a);
}

/* ---- order and number of replies ---- */

static void
twice(struct dice *d, const struct asked *a)
{
	edge(d, a);
	plain(d, a);
	part(d, a, FORGE_plain);
	fail(d, a, a->id);
}

static void
unasked(struct dice *d, const struct asked *a)
{
	for (int i = 0; i < 50; i++) {
		struct asked other_one = *a;

		other_one.id =
		    dice_once(d, 2) ? a->id + dice_below(d, 9000) + 1 : dice_roll(d) & INT64_MAX;
		plain(d, &other_one);
		fail(d, a, dice_roll(d) & INT64_MAX);
	}
	plain(d, a);
}

/* A reply to another request, which that request's client receives. */
static void
crossed(struct dice *d, const struct asked *a)
{
	struct asked wrong = recent[dice_below(d, nrecent)];

	wrong.message = a->message;
	edge(d, &wrong);
	wrong = *a;
	wrong.message = recent[dice_below(d, nrecent)].message;
	edge(d, &wrong);
}

static void
never(struct dice *d, const struct asked *a)
{
	(void)d;
	(void)a;
}

static void
flood(struct dice *d, const struct asked *a)
{
	enum forge how = (enum forge)dice_below(d, FORGE_full);

	for (int i = 0; i < FLOOD; i++)
		part(d, a, how);
	if (!dice_once(d, 3))
		edge(d, a);
	for (int i = 0; i < FLOOD / 10; i++)
		part(d, a, how);
}

/* clang-format off */
const struct trick tricks[] = {
	{ "plain", 2, plain },
	{ "edge", 12, edge },
	{ "broken", 12, broken },
	{ "large", 1, large },
	{ "other", 3, other },
	{ "failure", 4, failure },
	{ "noise", 6, noise },
	{ "frames", 4, frames },
	{ "blobs", 3, blobs },
	{ "roles", 4, roles },
	{ "greetings", 1, greetings },
	{ "twice", 3, twice },
	{ "unasked", 2, unasked },
	{ "crossed", 3, crossed },
	{ "never", 1, never },
	{ "flood", 2, flood },
	{ NULL, 0, NULL },
};
/* clang-format on */

const struct trick *
trick_find(const char *name)
{
	for (const struct trick *t = tricks; t->name != NULL; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

const struct trick *
trick_choose(struct dice *d)
{
	size_t sum = 0, at;
	const struct trick *t;

	for (t = tricks; t->name != NULL; t++)
		sum += t->weight;
	at = dice_below(d, sum);
	for (t = tricks; at >= t->weight; t++)
		at -= t->weight;
	return t;
}

void
trick_remember(const struct asked *a)
{
	recent[nrecent < RECENT ? nrecent++ : a->id % RECENT] = *a;
}
