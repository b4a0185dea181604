/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stand_in.c - a compromised daemon. It has the place, user and endpoints of the real one, and
 * answers each client with the tricks of tricks.c.
 *
 *     stand_in EXECUTOR RUN SEED [[MESSAGE=]TRICK]...
 *
 * The seed and the order of requests determine the tricks. With TRICK that one is always used, or
 * only for requests of one message.  For each reply it prints a line: the message, its number
 * among those of the same kind, and the trick.
 */
#include "tests/hostile/tricks.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	BEAT_MS = 500,
	MAX_CLIENTS = 64,
};

static struct line lines[PEER_COUNT];
static size_t nlines;
static struct {
	struct line *line;
	struct address address;
} clients[MAX_CLIENTS];
static size_t nclients;
static uint64_t seed, counts[MSG_COUNT];
static const struct trick *only[MSG_COUNT]; /* NULL: any */

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
beat(struct line *l, const struct address *to, struct dice *d)
{
	struct packed content;

	forge_message(d, MSG_heartbeat, FORGE_edge, FORGE_SMALL, &content);
	line_send(l, to,
	    (struct envelope){ .frame = frame_heartbeat, .message = (char *)"heartbeat" },
	    &content);
}

static void
greet(struct line *l, const struct bus_message *p)
{
	size_t i = 0;

	while (i < nclients &&
	       (clients[i].line != l || memcmp(&clients[i].address, &p->from, sizeof p->from) != 0))
		i++;
	if (i == nclients && nclients < MAX_CLIENTS) {
		clients[nclients].line = l;
		clients[nclients++].address = p->from;
	}
	line_hello(l, &p->from, p->envelope.id, edge_peer_name(l->edge->server), "1");
}

static void
answer(struct line *l, const struct bus_message *p)
{
	enum msg_id message =
	    p->envelope.message == NULL ? MSG_none : message_find(p->envelope.message);
	struct asked asked = { l, p->from, p->envelope.id, message };
	struct dice dice = { seed * 1000003 + (uint64_t)message * 8191 + counts[message] };

	if (message == MSG_none || messages[message].reply == MSG_none)
		return;
	dice_roll(&dice);
	trick_remember(&asked);

	const struct trick *t = only[message] != NULL ? only[message] : trick_choose(&dice);

	printf("%s %" PRIu64 " %s\n", messages[message].name, counts[message]++, t->name);
	fflush(stdout);
	t->play(&dice, &asked);
}

static void
receive(struct line *l)
{
	struct bus_message p;
	struct err e;
	int rc;

	while ((rc = bus_message_receive(
		    &(struct receiver){ .socket = l->socket, .routed = true }, &p, &e)) != 0) {
		if (rc < 0)
			continue;
		if (p.envelope.frame == frame_hello)
			greet(l, &p);
		else if (p.envelope.frame == frame_request)
			answer(l, &p);
		bus_message_clear(&p);
	}
}

static void
serve(void)
{
	zmq_pollitem_t polled[PEER_COUNT];
	struct dice dice = { seed };
	int64_t beaten_ms = 0;

	for (;;) {
		for (size_t i = 0; i < nlines; i++)
			polled[i] = (zmq_pollitem_t){ lines[i].socket, 0, ZMQ_POLLIN, 0 };
		if (zmq_poll(polled, (int)nlines, BEAT_MS) < 0)
			return;
		for (size_t i = 0; i < nlines; i++)
			receive(&lines[i]);
		if (now_ms() - beaten_ms < BEAT_MS)
			continue;
		beaten_ms = now_ms();
		for (size_t i = 0; i < nclients; i++)
			beat(clients[i].line, &clients[i].address, &dice);
	}
}

static int
restrict_to(const char *text)
{
	const char *equals = strchr(text, '=');
	const struct trick *t = trick_find(equals == NULL ? text : equals + 1);

	for (enum msg_id m = MSG_none + 1; m < MSG_COUNT; m++) {
		size_t n = strlen(messages[m].name);

		if (equals == NULL ||
		    ((size_t)(equals - text) == n && memcmp(messages[m].name, text, n) == 0))
			only[m] = t;
	}
	return t == NULL ? -1 : 0;
}

int
main(int argc, char **argv)
{
	enum peer self = argc < 4 ? PEER_none : edge_peer_parse(argv[1]);

	bool wrong = self == PEER_none;

	for (int i = 4; i < argc && !wrong; i++)
		wrong = restrict_to(argv[i]) < 0;
	if (wrong) {
		fprintf(stderr, "usage: stand_in DAEMON RUN SEED [[MESSAGE=]TRICK]...\n");
		return 2;
	}
	seed = strtoull(argv[3], NULL, 10);
	printf("seed %" PRIu64 "\n", seed);
	for (const struct edge *edge = edges; edge < edges + edges_count; edge++)
		if (edge->server == self && line_prepare(argv[2], edge) < 0)
			return 1;
	line_become(argv[2], self);
	for (const struct edge *edge = edges; edge < edges + edges_count; edge++)
		if (edge->server == self && (nlines == 0 || !line_is_far(argv[2])) &&
		    line_open(&lines[nlines++], argv[2], edge, self) < 0)
			return 1;
	serve();
	return 0;
}
