/* SPDX-License-Identifier: Apache-2.0 */
/* raw.c - a raw ZeroMQ socket of the test, which can follow the bus's protocol or violate it. */
#include "tests/unit/raw.h"

#include "tests/unit/bus_peer.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	ANSWER_MS = 20000, /* on a machine that is busy, too */
	WAIT_MS = 20,
};

void *raw_peer;
static void *context;
static char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

int
raw_setup(void **state)
{
	context = zmq_ctx_new();
	return peer_setup(state);
}

int
raw_teardown(void **state)
{
	if (raw_peer != NULL)
		zmq_close(take_ptr(raw_peer));
	zmq_ctx_term(context);
	return peer_teardown(state);
}

void *
raw_socket(int type)
{
	int none = 0;

	raw_peer = zmq_socket(context, type);
	assert_non_null(raw_peer);
	zmq_setsockopt(raw_peer, ZMQ_LINGER, &none, sizeof none);
	zmq_setsockopt(
	    raw_peer, ZMQ_SNDHWM, &none, sizeof none); /* no bound: attacks come in one go */
	return raw_peer;
}

static void
connect_raw(void)
{
	char address[128];

	snprintf(address, sizeof address, "ipc://%s/executor-snapshotd/1", peer_directory());
	assert_int_equal(zmq_connect(raw_peer, address), 0);
}

void
raw_client(void)
{
	raw_socket(ZMQ_DEALER);
	connect_raw();
}

void
raw_slow_client(void)
{
	int one = 1;

	raw_socket(ZMQ_DEALER);
	zmq_setsockopt(raw_peer, ZMQ_RCVHWM, &one, sizeof one);
	connect_raw();
}

void
raw_send(struct envelope envelope, enum msg_id message, void *msg)
{
	struct packed content = { 0 };
	struct err e;

	if (message != MSG_none)
		assert_int_equal(wire_encode(message, msg, &content, &e), 0);
	assert_int_equal(
	    bus_message_send(&(struct target){ .socket = raw_peer }, &envelope, &content), 0);
}

/* The ordinary client is not to be silent meanwhile. */
static bool
receive(struct bus_message *p)
{
	zmq_pollitem_t item = { raw_peer, 0, ZMQ_POLLIN, 0 };
	struct err e;

	if (zmq_poll(&item, 1, WAIT_MS) > 0)
		return bus_message_receive(
			   &(struct receiver){ .socket = raw_peer, .routed = false }, p, &e) == 1;
	peer_run(1);
	return false;
}

/* The next failure, by the id that it is about; heartbeats are passed over. */
static struct failure
next_failure(uint64_t id)
{
	struct failure f = { 0 };
	struct err e;

	for (int64_t until = loop_now_ms() + ANSWER_MS; loop_now_ms() < until && f.code == NULL;) {
		struct bus_message p;

		if (!receive(&p))
			continue;
		if (p.envelope.frame == frame_failure && p.envelope.id == id)
			assert_int_equal(bus_message_decode(&p, MSG_failure, &f, &e), 0);
		bus_message_clear(&p);
	}
	assert_non_null(f.code);
	return f;
}

void
raw_expect_failure(uint64_t id, enum err_code code, const char *says)
{
	struct failure f = next_failure(id);

	assert_string_equal(f.code, err_name(code));
	assert_non_null(strstr(f.text, says));
	message_clear(MSG_failure, &f);
}

bool
raw_replied(uint64_t id)
{
	bool got = false;

	for (int64_t until = loop_now_ms() + ANSWER_MS; loop_now_ms() < until && !got;) {
		struct bus_message p;

		if (!receive(&p))
			continue;
		got = p.envelope.frame == frame_reply && p.envelope.id == id;
		bus_message_clear(&p);
	}
	return got;
}

static struct hello
hello_of(const char *daemon, enum msg_id differing)
{
	static struct greeting greetings[MSG_COUNT];
	struct hello hello = {
		.daemon = (char *)daemon, .instance = (char *)"raw", .version = (char *)"0.0.9"
	};

	for (int m = MSG_none + 1; m < MSG_COUNT; m++)
		greetings[m - 1] = (struct greeting){ (char *)messages[m].name,
			(message_hash((enum msg_id)m) & INT64_MAX) ^ (m == (int)differing) };
	hello.messages.items = greetings;
	hello.messages.count = MSG_COUNT - 1;
	return hello;
}

void
raw_hello(const char *daemon, enum msg_id differing)
{
	struct hello hello = hello_of(daemon, differing);

	raw_send((struct envelope){ .frame = frame_hello }, MSG_hello, &hello);
}

void
raw_beat(void *socket)
{
	struct heartbeat nothing = { 0 };
	void *other = raw_peer;

	raw_peer = socket;
	raw_send((struct envelope){ .frame = frame_heartbeat, .message = (char *)"heartbeat" },
	    MSG_heartbeat, &nothing);
	raw_peer = other;
}

void
raw_get(uint64_t id, const char *what)
{
	struct snapshot_get get = { .snapshot_id = (char *)what, .sha256 = digest };

	raw_send(
	    (struct envelope){
		.frame = frame_request, .id = id, .message = (char *)"snapshot_get" },
	    MSG_snapshot_get, &get);
}

/* ---- as a server ---- */

void
raw_serve(int64_t connect_wait_ms, const char *other)
{
	char path[128], both[300];

	snprintf(path, sizeof path, "ipc://%s/raw", peer_directory());
	snprintf(both, sizeof both, "%s%s%s", path, other == NULL ? "" : ",",
	    other == NULL ? "" : other);
	assert_int_equal(zmq_bind(raw_socket(ZMQ_ROUTER), path), 0);
	peer_client(&(struct peer_options){ .connect = both, .connect_wait_ms = connect_wait_ms });
}

struct address
raw_hear(uint64_t *greeting)
{
	struct bus_message p;
	struct err e;

	for (int i = 0; i < 50; i++) {
		peer_run(20);
		if (bus_message_receive(
			&(struct receiver){ .socket = raw_peer, .routed = true }, &p, &e) != 1)
			continue;
		*greeting = p.envelope.id;
		bus_message_clear(&p);
		return p.from;
	}
	fail_msg("the client says nothing");
	return (struct address){ 0 };
}

void
raw_reply(const struct address *to, struct envelope envelope, enum msg_id message, void *msg)
{
	struct packed content = { 0 };
	struct err e;

	assert_int_equal(wire_encode(message, msg, &content, &e), 0);
	assert_int_equal(
	    bus_message_send(&(struct target){ .socket = raw_peer, .to = to }, &envelope, &content),
	    0);
	peer_run(50);
}

void
raw_greet(const struct address *to, uint64_t greeting, enum msg_id differing)
{
	struct hello hello = hello_of("snapshotd", differing);

	raw_reply(to, (struct envelope){ .frame = frame_hello, .id = greeting }, MSG_hello, &hello);
}
