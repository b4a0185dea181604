/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bus_hostile.c - peers that violate the rules. Whatever they send is refused and counted,
 * and ends only their own connection. After each attack an ordinary client must be served.
 */
#include "tests/unit/bus_peer.h"
#include "tests/unit/raw.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus_message.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

enum {
	ATTACKS = 1000,
	MAX_HELD = 32,
	NOISE_MS = 60000,
};

static const struct peer_options plain;
static char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static uint64_t seed;

/* Repeatable: xorshift64. */
static uint32_t
chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

static int
setup(void **state)
{
	seed = 88172645463325252u;
	return raw_setup(state);
}

static void
pair(void)
{
	peer_serve(&plain);
	peer_client(&plain);
	raw_client();
}

/* ---- one rule broken at a time ---- */

static void
a_request_before_a_hello(void **state)
{
	(void)state;
	pair();
	raw_get(7, "echo");
	raw_expect_failure(7, ERR_unavailable, "before a hello");
	assert_int_equal(peer_counts().refused, 1);
}

static void
a_hello_of_another_daemon(void **state)
{
	(void)state;
	pair();
	raw_hello("gateway", MSG_none);
	raw_expect_failure(0, ERR_denied, "hello from gateway on the edge of executor");
	raw_get(7, "echo");
	raw_expect_failure(7, ERR_unavailable, "before a hello");
}

static void
a_message_of_another_edge(void **state)
{
	struct snapshot_drop drop = { .snapshot_id = (char *)"echo" };
	struct envelope envelope = {
		.frame = frame_request, .id = 7, .message = (char *)"snapshot_drop"
	};

	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	raw_send(envelope, MSG_snapshot_drop, &drop);
	raw_expect_failure(7, ERR_denied, "executor may not send to snapshotd: snapshot_drop");
	envelope.message = (char *)"audit_append"; /* which this server has no route for */
	raw_send(envelope, MSG_snapshot_drop, &drop);
	raw_expect_failure(7, ERR_denied, "executor may not send to snapshotd: audit_append");
	assert_int_equal(peer_counts().refused, 2);
}

static void
a_message_that_is_none(void **state)
{
	struct nothing nothing = { .ok = true };
	struct envelope envelope = { .frame = frame_request, .id = 7, .message = (char *)"rm" };

	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	raw_send(envelope, MSG_nothing, &nothing);
	raw_expect_failure(7, ERR_invalid_argument, "unknown message 'rm'");
	envelope.message = NULL;
	raw_send(envelope, MSG_nothing, &nothing);
	raw_expect_failure(7, ERR_invalid_argument, "unknown message ''");
}

static void
a_body_of_another_message(void **state)
{
	struct nothing nothing = { .ok = true };

	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	raw_send(
	    (struct envelope){ .frame = frame_request, .id = 7, .message = (char *)"snapshot_get" },
	    MSG_nothing, &nothing);
	raw_expect_failure(7, ERR_invalid_argument, "ok");
	assert_int_equal(peer_counts().malformed, 1);
}

static void
an_id_twice(void **state)
{
	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	raw_get(7, "hang");
	raw_get(7, "echo");
	raw_expect_failure(7, ERR_invalid_argument, "id 7 is in use");
}

static void
a_frame_that_only_servers_send(void **state)
{
	struct nothing nothing = { .ok = true };

	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	raw_send((struct envelope){ .frame = frame_reply, .id = 7 }, MSG_nothing, &nothing);
	raw_expect_failure(7, ERR_denied, "unexpected frame 'reply' from a client");
}

/* The rest of a message that is too long is dropped, the next one is read. */
static void
more_blobs_than_allowed(void **state)
{
	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	struct envelope envelope = {
		.frame = frame_request, .id = 7, .message = (char *)"snapshot_get"
	};
	struct packed head = { 0 };
	struct err e;
	assert_int_equal(wire_encode(MSG_envelope, &envelope, &head, &e), 0);
	zmq_send(raw_peer, head.body.data, head.body.size, ZMQ_SNDMORE);
	packed_clear(&head);
	for (int i = 0; i < WIRE_MAX_BLOBS + 2; i++)
		zmq_send(raw_peer, "x", 1, i == WIRE_MAX_BLOBS + 1 ? 0 : ZMQ_SNDMORE);
	raw_get(8, "echo");
	assert_true(raw_replied(8));
	assert_int_equal(peer_counts().malformed, 1);
}

/* ---- noise ---- */

static void
flipped_bits(void **state)
{
	struct snapshot_get get = { .snapshot_id = (char *)"echo", .sha256 = digest };
	struct envelope envelope = { .frame = frame_request,
		.message = (char *)"snapshot_get",
		.deadline_ms = 1000,
		.principal = (char *)"local:0" };
	struct packed head = { 0 }, body = { 0 };
	struct err e;

	(void)state;
	pair();
	raw_hello("executor", MSG_none);
	assert_int_equal(wire_encode(MSG_snapshot_get, &get, &body, &e), 0);
	for (uint32_t i = 0; i < ATTACKS; i++) {
		envelope.id = i + 1;
		assert_int_equal(wire_encode(MSG_envelope, &envelope, &head, &e), 0);
		struct blob *hit = chance(2) == 0 ? &head.body : &body.body;
		uint32_t at = chance((uint32_t)hit->size), bit = chance(8);
		((uint8_t *)hit->data)[at] ^= (uint8_t)(1u << bit);
		zmq_send(raw_peer, head.body.data, head.body.size, ZMQ_SNDMORE);
		zmq_send(raw_peer, body.body.data, body.body.size, 0);
		if (hit == &body.body)
			((uint8_t *)hit->data)[at] ^= (uint8_t)(1u << bit);
		packed_clear(&head);
	}
	packed_clear(&body);
	raw_get(ATTACKS + 1, "echo");
	assert_true(raw_replied(ATTACKS + 1));
	assert_true(peer_counts().malformed > ATTACKS / 4);
}

static void
random_messages(void **state)
{
	uint8_t noise[256];

	(void)state;
	pair();
	for (int i = 0; i < ATTACKS; i++) {
		uint32_t parts = 1 + chance(6);

		for (uint32_t k = 0; k < parts; k++) {
			uint32_t size = chance(sizeof noise);
			for (uint32_t b = 0; b < size; b++)
				noise[b] = (uint8_t)chance(256);
			zmq_send(raw_peer, noise, size, k + 1 < parts ? ZMQ_SNDMORE : 0);
		}
	}
	raw_hello("executor", MSG_none);
	raw_get(1, "echo");
	assert_true(raw_replied(1));
	assert_int_equal(peer_counts().malformed, ATTACKS);
}

/* A connection with bytes that are no ZMTP, or that begin as ZMTP and then are not. */
static void
make_noise(int fd)
{
	static const uint8_t greeting[64] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U',
		'L', 'L' };
	uint8_t noise[512];
	size_t size = chance(sizeof noise);

	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (uint8_t)chance(256);
	if (chance(2) == 0) {
		memcpy(noise, greeting, sizeof greeting);
		if (chance(2) == 0)
			noise[chance(sizeof greeting)] ^= (uint8_t)(1u << chance(8));
	}
	if (send(fd, noise, size, MSG_NOSIGNAL) < 0)
		return; /* it has hung up already */
}

/* Some say no more and stay, until this process ends. */
static void
make_connections(const struct sockaddr *to, socklen_t size, int done)
{
	int held = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < ATTACKS; i++) {
		int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		must(connect(fd, to, size) == 0);
		make_noise(fd);
		if (held == MAX_HELD || chance(16) != 0)
			close(fd);
		else
			held++;
		poll(NULL, 0, 1); /* so that the backlog never fills */
	}
	must(write(done, "", 1) == 1);
	pause();
	_exit(1);
}

/* From a process of its own: a client that says nothing for seconds is taken for gone. */
static void
random_connections(const struct sockaddr *to, socklen_t size)
{
	int done[2];

	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		make_connections(to, size, done[1]);
	close(done[1]);

	struct pollfd ended = { .fd = done[0], .events = POLLIN };
	for (int i = 0; i < NOISE_MS / 10 && poll(&ended, 1, 0) == 0; i++)
		peer_run(10);
	assert_int_equal(ended.revents & POLLIN, POLLIN); /* and not only that it hung up */
	struct outcome o = peer_try("echo");
	if (!o.replied)
		fail_msg("after the noise: %s", o.e.text);
	peer_kill(pid);
	close(done[0]);
}

static void
random_bytes_on_a_unix_socket(void **state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	(void)state;
	peer_serve(&plain);
	peer_client(&plain);
	assert_true(peer_try("echo").replied);
	snprintf(to.sun_path, sizeof to.sun_path, "%s/executor-snapshotd/1", peer_directory());
	random_connections((struct sockaddr *)&to, sizeof to);
	assert_true(peer_counts().refused > ATTACKS / 4);
}

static void
random_bytes_and_no_key_over_tcp(void **state)
{
	char keys[128], listen[64];
	int port = peer_free_port();
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct err e;

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	snprintf(keys, sizeof keys, "%s/keys", peer_directory());
	snprintf(listen, sizeof listen, "tcp://127.0.0.1:%d", port);
	assert_int_equal(bus_keys_make(keys, &e), 0);
	peer_serve(&(struct peer_options){ .listen = listen, .keys = keys });
	peer_client(&(struct peer_options){ .connect = listen, .keys = keys });
	assert_true(peer_try("echo").replied);
	random_connections((struct sockaddr *)&to, sizeof to);
	uint64_t refused = peer_counts().refused;
	assert_true(refused > ATTACKS / 4);

	assert_int_equal(zmq_connect(raw_socket(ZMQ_DEALER), listen), 0); /* speaks ZMTP, no key */
	zmq_send(raw_peer, "hello", 5, ZMQ_DONTWAIT); /* if it is not shut out already */
	peer_run(1000);
	assert_true(zmq_recv(raw_peer, keys, sizeof keys, ZMQ_DONTWAIT) < 0);
	assert_true(peer_counts().refused > refused);
}

/* ---- a server that lies ---- */

enum { PATIENCE_RUNS = 1000, RUN_MS = 5 };

/* A loaded machine delivers later than any fixed time. */
static void
count_becomes(const uint64_t *count, uint64_t wanted)
{
	for (int i = 0; i < PATIENCE_RUNS && *count < wanted; i++)
		peer_run(RUN_MS);
	assert_int_equal(*count, wanted);
}

static void
a_server_that_lies(void **state)
{
	struct hello hello = {
		.daemon = (char *)"auditd", .instance = (char *)"1", .version = (char *)"0"
	};
	struct nothing nothing = { .ok = true };
	struct greeting greeting = { (char *)"snapshot_get", 0 };
	struct outcome o;
	uint64_t greeting_id;

	(void)state;
	raw_serve(1000, NULL);
	struct address to = raw_hear(&greeting_id);
	hello.messages.items = &greeting;
	hello.messages.count = 1;
	raw_reply(
	    &to, (struct envelope){ .frame = frame_hello, .id = greeting_id }, MSG_hello, &hello);
	count_becomes(&bus_counts()->refused, 1);
	assert_false(bus_ready(PEER_snapshotd, NULL));
	raw_reply(&to, (struct envelope){ .frame = frame_reply, .id = 77 }, MSG_nothing, &nothing);
	count_becomes(&bus_counts()->refused, 2);
	raw_reply(&to, (struct envelope){ .frame = frame_request, .id = 1 }, MSG_nothing, &nothing);
	count_becomes(&bus_counts()->refused, 3);
	raw_reply(&to, (struct envelope){ .frame = frame_heartbeat }, MSG_nothing, &nothing);
	count_becomes(&bus_counts()->refused, 4);
	zmq_send(raw_peer, to.bytes, to.size, ZMQ_SNDMORE);
	zmq_send(raw_peer, "\xc1", 1, 0);
	peer_run(50);
	count_becomes(&bus_counts()->malformed, 1);
	hello.daemon = (char *)"snapshotd";
	raw_hear(&greeting_id); /* it tries again */
	raw_reply(
	    &to, (struct envelope){ .frame = frame_hello, .id = greeting_id }, MSG_hello, &hello);
	assert_true(bus_ready(PEER_snapshotd, NULL));
	peer_ask(&o, "echo", NULL, 0); /* which it describes otherwise */
	assert_true(peer_wait(&o, 3000));
	assert_int_equal(o.e.code, ERR_unavailable);
	assert_non_null(strstr(o.e.text, "snapshot_get"));
}

static void
a_reply_of_another_message(void **state)
{
	struct hello hello = {
		.daemon = (char *)"snapshotd", .instance = (char *)"1", .version = (char *)"0"
	};
	struct greeting greeting = { (char *)"snapshot_get",
		message_hash(MSG_snapshot_get) & INT64_MAX };
	struct nothing nothing = { .ok = true };
	struct outcome o;
	uint64_t greeting_id;

	(void)state;
	raw_serve(1000, NULL);
	struct address to = raw_hear(&greeting_id);
	hello.messages.items = &greeting;
	hello.messages.count = 1;
	raw_reply(
	    &to, (struct envelope){ .frame = frame_hello, .id = greeting_id }, MSG_hello, &hello);
	peer_ask(&o, "echo", NULL, 0);
	assert_false(o.ended);
	raw_reply(
	    &to, (struct envelope){ .frame = frame_reply, .id = o.id }, MSG_nothing, &nothing);
	assert_true(o.ended);
	assert_int_equal(o.e.code, ERR_internal);
	count_becomes(&bus_counts()->malformed, 1);
}

#define hostile_test(f) cmocka_unit_test_setup_teardown(f, setup, raw_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		hostile_test(a_request_before_a_hello),
		hostile_test(a_hello_of_another_daemon),
		hostile_test(a_message_of_another_edge),
		hostile_test(a_message_that_is_none),
		hostile_test(a_body_of_another_message),
		hostile_test(an_id_twice),
		hostile_test(a_frame_that_only_servers_send),
		hostile_test(more_blobs_than_allowed),
		hostile_test(flipped_bits),
		hostile_test(random_messages),
		hostile_test(random_bytes_on_a_unix_socket),
		hostile_test(random_bytes_and_no_key_over_tcp),
		hostile_test(a_server_that_lies),
		hostile_test(a_reply_of_another_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
