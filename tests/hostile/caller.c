/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.c - a compromised daemon that sends arbitrary requests to another one.
 *
 *     caller GATEWAY EXECUTOR RUN SEED COUNT MESSAGE...
 *
 * Most are the named requests, which are permitted, with the least expected content; the others
 * break a rule. Waits
 * until most have been answered, and prints a line with the number of replies.
 */
#include "tests/hostile/line.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	OPEN = 64, /* requests without a reply */
	LULL_MS = 3000,
};

static struct line line;
static struct {
	char **names;
	size_t count;
} permitted;
static size_t answers;

/* Receives replies; false: none arrived for so long. */
static bool
hear(long wait_ms)
{
	const struct receiver in = { .socket = line.socket };
	zmq_pollitem_t item = { line.socket, 0, ZMQ_POLLIN, 0 };
	struct bus_message p;
	struct err e;

	if (zmq_poll(&item, 1, wait_ms) <= 0)
		return false;
	while (bus_message_receive(&in, &p, &e) == 1) {
		answers += p.envelope.frame == frame_reply || p.envelope.frame == frame_failure;
		bus_message_clear(&p);
	}
	return true;
}

/* Usually a permitted message; otherwise any. */
static enum msg_id
choose(struct dice *d)
{
	if (dice_once(d, 8))
		return (enum msg_id)(1 + dice_below(d, MSG_COUNT - 1));
	return message_find(permitted.names[dice_below(d, permitted.count)]);
}

static bool
are_messages(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (message_find(names[i]) == MSG_none)
			return false;
	return count > 0;
}

static void
ask(struct dice *d, uint64_t id)
{
	static const char *const principals[] = { "local:0", "local:1", "../../etc", "a\nb", " " };
	enum msg_id message = choose(d);
	struct envelope envelope = {
		.frame = frame_request,
		.id = id,
		.message = (char *)messages[message].name,
		.principal = (char *)principals[dice_below(d, COUNT(principals))],
		.namespace = dice_once(d, 3) ? (char *)"../x" : NULL,
		.deadline_ms = dice_once(d, 4) ? 1 + dice_below(d, 200) : 20000,
	};
	struct packed content;

	forge_message(d, message,
	    dice_once(d, 3)   ? FORGE_broken
	    : dice_once(d, 2) ? FORGE_edge
			      : FORGE_plain,
	    FORGE_SMALL, &content);
	line_send(&line, NULL, envelope, &content);
}

/* Sends frames that a client does not send, or not at that time, or that are invalid. */
static void
disturb(struct dice *d, uint64_t id)
{
	static const enum frame words[] = { frame_reply, frame_failure, frame_stream, frame_cancel,
		frame_heartbeat, frame_hello };
	struct envelope envelope = { .frame = (int)words[dice_below(d, COUNT(words))],
		.id = dice_once(d, 2) ? dice_below(d, id + 1) : dice_roll(d) & INT64_MAX };
	struct packed content;
	struct blob frames[4] = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };

	forge_message(d, (enum msg_id)(1 + dice_below(d, MSG_COUNT - 1)),
	    (enum forge)dice_below(d, FORGE_full), FORGE_SMALL, &content);
	if (dice_once(d, 3)) {
		frames[dice_below(d, COUNT(frames))] = content.body;
		line_frames(&line, NULL, frames, 1 + dice_below(d, COUNT(frames)));
		packed_clear(&content);
		return;
	}
	line_send(&line, NULL, envelope, &content);
}

/* With another name of an instance; a message cannot have an empty one. */
static void
greet_again(struct dice *dice, uint64_t id, const char *daemon)
{
	const char *instance;

	do
		instance = forge_text(dice, 64);
	while (instance[0] == '\0');
	line_hello(&line, NULL, id, daemon, instance);
}

int
main(int argc, char **argv)
{
	enum peer self = argc < 7 ? PEER_none : edge_peer_parse(argv[1]);
	const struct edge *edge =
	    self == PEER_none ? NULL : edge_find(self, edge_peer_parse(argv[2]));
	struct dice dice = { edge == NULL ? 0 : strtoull(argv[4], NULL, 10) };
	uint64_t count = edge == NULL ? 0 : strtoull(argv[5], NULL, 10);

	if (edge == NULL || !are_messages(argv + 6, (size_t)argc - 6)) {
		fprintf(stderr, "usage: caller DAEMON SERVER RUN SEED COUNT MESSAGE...\n");
		return 2;
	}
	permitted.names = argv + 6;
	permitted.count = (size_t)argc - 6;
	line_become(argv[3], self);
	if (line_open(&line, argv[3], edge, self) < 0)
		return 1;
	line_hello(&line, NULL, 0, argv[1], "1");
	for (uint64_t id = 1; id <= count; id++) {
		if (dice_once(&dice, 6))
			disturb(&dice, id);
		if (dice_once(&dice, 100))
			greet_again(&dice, id, argv[1]);
		ask(&dice, dice_once(&dice, 50) ? dice_below(&dice, id) : id);
		while (id > answers + OPEN && hear(LULL_MS))
			continue;
	}
	while (answers < count && hear(LULL_MS))
		continue;
	printf("seed %s: %" PRIu64 " requests, %zu answers\n", argv[4], count, answers);
	return 0;
}
