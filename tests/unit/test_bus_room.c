/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bus_room.c - the bytes that wait in a process for a peer are bounded, and the client is
 * notified if there is no room. This covers replies to a client that does not read, and requests
 * for a server that is not connected. The open requests of a client are bounded over all its
 * connections, and so is the work done before other sockets get their turn.
 */
#include "tests/unit/bus_peer.h"
#include "tests/unit/late_clock.h"
#include "tests/unit/raw.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	HEAPS = 5,        /* more than are on the way and wait, together */
	REFUSALS = 12000, /* more than any number of answers that wait */
	BEAT_MS = 500,
	WAITS = 1000,
	WAIT_MS = 20,
};

static const struct peer_options plain;
static void *others[2]; /* raw peers that an attack left aside */

static bool congested; /* no connection takes a request */

int __real_bus_message_send(const struct target *, struct envelope *, struct packed *);
int __wrap_bus_message_send(const struct target *, struct envelope *, struct packed *);

int
__wrap_bus_message_send(
    const struct target *target, struct envelope *envelope, struct packed *content)
{
	if (!congested || envelope->frame != frame_request)
		return __real_bus_message_send(target, envelope, content);
	errno = EAGAIN;
	return -1;
}

static int
teardown(void **state)
{
	for (size_t i = 0; i < COUNT(others); i++)
		if (others[i] != NULL)
			zmq_close(take_ptr(others[i]));
	return raw_teardown(state);
}

static void
pair(void)
{
	peer_serve(&plain);
	peer_client(&plain);
	assert_true(peer_try("echo").replied);
}

/* Of who is given up, nothing waits any more. */
static void
beat_all(void *self)
{
	if (raw_peer != NULL)
		raw_beat(raw_peer);
	for (size_t i = 0; i < COUNT(others); i++)
		if (others[i] != NULL)
			raw_beat(others[i]);
	loop_after(BEAT_MS, beat_all, self);
}

/* One of them waits in ZeroMQ's queue, which then takes no more; another for that.  Until one was
 * refused: another connection's requests may come first otherwise. */
static void
ask_for_heaps(void)
{
	uint64_t refused = peer_counts().refused;

	raw_slow_client();
	raw_hello("executor", MSG_none);
	for (uint64_t id = 1; id <= HEAPS; id++)
		raw_get(id, "heap");
	raw_get(HEAPS + 1, "echo");
	for (int i = 0; i < WAITS && peer_counts().refused == refused; i++)
		peer_run(WAIT_MS);
	assert_true(peer_counts().refused > refused);
}

static void
answers_that_wait_are_bounded(void **state)
{
	(void)state;
	pair();
	beat_all(NULL);
	ask_for_heaps();
	assert_true(peer_try("echo").replied);
	for (uint64_t id = 1; id <= 2; id++)
		assert_true(raw_replied(id));
	raw_expect_failure(HEAPS, ERR_limit_exceeded, "wait for executor");
	assert_true(raw_replied(HEAPS + 1)); /* which is small */
	assert_int_equal(peer_counts().lost[PEER_executor], 0);
}

/* What waits for one connection leaves no room for another of the same daemon: no large answer
 * comes by that, small ones do. */
static void
answers_for_a_daemon_are_bounded(void **state)
{
	(void)state;
	pair();
	beat_all(NULL);
	ask_for_heaps();
	assert_true(peer_try("echo").replied);
	others[0] = take_ptr(raw_peer);
	raw_slow_client();
	raw_hello("executor", MSG_none);
	raw_get(1, "heap");
	raw_get(2, "echo");
	raw_expect_failure(1, ERR_limit_exceeded, "wait for executor");
	assert_true(raw_replied(2));
}

/* A refusal has no request that is open: nothing but this bounds them. */
static void
who_reads_no_refusals_is_cut_off(void **state)
{
	struct nothing nothing = { .ok = true };

	(void)state;
	pair();
	raw_slow_client();
	raw_hello("executor", MSG_none);
	for (uint64_t id = 1; id <= REFUSALS; id++) {
		raw_send(
		    (struct envelope){ .frame = frame_request, .id = id, .message = (char *)"rm" },
		    MSG_nothing, &nothing);
		if (id % 500 == 0)
			peer_run(10); /* so that the client beside it is not taken for gone */
	}
	peer_run(1500);
	assert_true(peer_try("echo").replied);
	assert_int_equal(peer_counts().lost[PEER_executor], 1);
}

static void
no_refusal_is_lost(void **state)
{
	struct nothing nothing = { .ok = true };
	const uint64_t many = 4000;

	(void)state;
	pair();
	beat_all(NULL);
	raw_slow_client();
	raw_hello("executor", MSG_none);
	for (uint64_t id = 1; id <= many; id++)
		raw_send(
		    (struct envelope){ .frame = frame_request, .id = id, .message = (char *)"rm" },
		    MSG_nothing, &nothing);
	assert_true(peer_try("echo").replied);
	for (uint64_t id = 1; id <= many; id++)
		raw_expect_failure(id, ERR_invalid_argument, "unknown message 'rm'");
}

static void
requests_that_wait_are_bounded(void **state)
{
	static struct outcome o[5];

	(void)state;
	peer_client(&(struct peer_options){ .connect_wait_ms = 300 });
	peer_put_heap(&o[0], PEER_snapshotd);
	peer_put_heap(&o[1], PEER_snapshotd);
	peer_ask(&o[2], "echo", NULL, 0);
	peer_put_heap(&o[3], PEER_auditd);
	peer_put_heap(&o[4], PEER_validator);
	assert_false(o[0].ended);
	assert_int_equal(o[1].e.code, ERR_queue_full);
	assert_non_null(strstr(o[1].e.text, "wait for snapshotd"));
	assert_true(o[1].e.retry_ms > 0);
	assert_false(o[2].ended); /* which is small */
	assert_false(o[3].ended);
	assert_int_equal(o[4].e.code, ERR_queue_full);
	assert_non_null(strstr(o[4].e.text, "wait for servers"));
	for (size_t i = 0; i < COUNT(o); i++)
		assert_true(peer_wait(&o[i], 2000));
	peer_put_heap(&o[0], PEER_snapshotd); /* those are gone */
	assert_false(o[0].ended);
	assert_true(peer_wait(&o[0], 2000));
}

static void
open_requests_of_a_daemon_are_bounded(void **state)
{
	struct outcome o;

	(void)state;
	peer_serve(&(struct peer_options){ .max_calls = 2 });
	peer_client(&plain);
	assert_true(peer_try("echo").replied);
	for (size_t i = 0; i < COUNT(others); i++) {
		raw_client();
		raw_hello("executor", MSG_none);
		for (uint64_t id = 1; id <= 2; id++)
			raw_get(id, i == 0 ? "hang" : "echo");
		raw_get(3, "echo");
		raw_expect_failure(3, ERR_queue_full, "2 requests of executor");
		others[i] = take_ptr(raw_peer);
	}
	o = peer_try("echo");
	assert_int_equal(o.e.code, ERR_queue_full);
	assert_non_null(strstr(o.e.text, "2 requests of executor"));
	assert_true(o.e.retry_ms > 0);
	zmq_close(take_ptr(others[0])); /* what it had open ends with it */
	assert_int_equal(peer_note(3000), ERR_unavailable);
	assert_int_equal(peer_note(3000), ERR_unavailable);
	assert_true(peer_try("echo").replied);
}

/* Its server is there all the time. */
static void
request_for_a_full_connection_is_told_so(void **state)
{
	struct outcome o;

	(void)state;
	peer_serve(&plain);
	peer_client(&(struct peer_options){ .connect_wait_ms = 300 });
	assert_true(peer_try("echo").replied);
	congested = true;
	peer_ask(&o, "echo", NULL, 0);
	assert_true(peer_wait(&o, 3000));
	congested = false;
	assert_int_equal(o.e.code, ERR_queue_full);
	assert_non_null(strstr(o.e.text, "waited 300 ms: snapshotd accepts no more"));
	assert_true(o.e.retry_ms > 0);
	assert_true(peer_try("echo").replied);
}

/* ---- what has come and is not read ---- */

enum {
	PUTS = 60,
	PUT_BYTES = 4 << 20,
	MOST_KB = 100 << 10, /* 2 or 3 such messages and the process; all of them are 240 MB */
};

static long
peak_kb(pid_t pid)
{
	char path[64], line[128];
	long kb = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);

	FILE *f = fopen(path, "re");

	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL)
		sscanf(line, "VmHWM: %ld", &kb);
	fclose(f);
	assert_true(kb > 0);
	return kb;
}

static void
put(uint64_t id)
{
	static char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	uint8_t *bytes = calloc(1, PUT_BYTES);
	struct snapshot_put put = { .sha256 = digest, .content = { bytes, PUT_BYTES } };
	struct envelope envelope = {
		.frame = frame_request, .id = id, .message = (char *)"snapshot_put"
	};

	assert_non_null(bytes);
	for (size_t i = 0; i < PUT_BYTES; i += 4096)
		bytes[i] = (uint8_t)(i >> 12); /* as on_put() checks */
	raw_send(envelope, MSG_snapshot_put, &put);
}

/* A server that is busy does not take what a peer sends meanwhile; when it reads, all of it comes.
 */
static void
messages_that_are_not_read_are_bounded(void **state)
{
	(void)state;
	pid_t server = peer_serve(&plain);

	peer_client(&plain);
	raw_client();
	raw_hello("executor", MSG_none);
	raw_get(1, "busy");
	for (uint64_t id = 2; id <= PUTS; id++)
		put(id);
	assert_true(raw_replied(PUTS));
	assert_in_range(peak_kb(server), 1, MOST_KB);
}

/* ---- what is handled at once ---- */

enum {
	ANSWERS = 40,
};

/* However many messages are there already: a peer decides how long each takes. */
static void
messages_that_take_long_let_others_go_on(void **state)
{
	struct outcome all[ANSWERS];
	struct err e;

	(void)state;
	pair();
	for (size_t i = 0; i < ANSWERS; i++)
		peer_ask(&all[i], "echo", NULL, 0);
	usleep(300000); /* all of them have come */
	assert_int_equal(loop_before_wait(count_turns, NULL, &e), 0);
	late_us = 1000;
	turns = 0;
	assert_true(peer_wait(&all[ANSWERS - 1], 5000));
	late_us = 0;
	assert_in_range(turns, ANSWERS - 1, 10000);
}

#define room_test(f) cmocka_unit_test_setup_teardown(f, raw_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		room_test(answers_that_wait_are_bounded),
		room_test(answers_for_a_daemon_are_bounded),
		room_test(no_refusal_is_lost),
		room_test(who_reads_no_refusals_is_cut_off),
		room_test(requests_that_wait_are_bounded),
		room_test(open_requests_of_a_daemon_are_bounded),
		room_test(request_for_a_full_connection_is_told_so),
		room_test(messages_that_are_not_read_are_bounded),
		room_test(messages_that_take_long_let_others_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
