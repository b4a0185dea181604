/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bus_builds.c - two builds that describe a message differently, as in a rolling upgrade.
 * That message is refused at once, by its name; all others are exchanged.
 */
#include "tests/unit/bus_peer.h"
#include "tests/unit/raw.h"

#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	WAIT_MS = 10000, /* for a daemon that is not there, as daemons do by default */
	AT_ONCE_MS = 1000,
};

static char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void
assert_refused(const struct outcome *o)
{
	assert_false(o->replied);
	assert_int_equal(o->e.code, ERR_unavailable);
	assert_string_equal(o->e.text,
	    "snapshot_get: snapshotd raw (version 0.0.9) and executor (version " CLOISTER_VERSION
	    ") describe it differently; run one version of both");
}

/* Nothing of it reaches the server. */
static void
the_asker_refuses_at_once(void **state)
{
	struct outcome o;
	uint64_t greeting;

	(void)state;
	raw_serve(WAIT_MS, NULL);

	struct address to = raw_hear(&greeting);

	raw_greet(&to, greeting, MSG_snapshot_get);
	peer_ask(&o, "echo", NULL, 0);
	assert_true(o.ended);
	assert_refused(&o);
	peer_ask(&o, "echo", "raw", 0);
	assert_true(o.ended);
	assert_refused(&o);
}

static void
what_waited_for_the_greeting_is_refused_by_it(void **state)
{
	struct outcome o;
	uint64_t greeting;

	(void)state;
	raw_serve(WAIT_MS, NULL);
	peer_ask(&o, "echo", NULL, 0);
	assert_false(o.ended);

	struct address to = raw_hear(&greeting);

	raw_greet(&to, greeting, MSG_snapshot_get);
	assert_true(peer_wait(&o, AT_ONCE_MS));
	assert_refused(&o);
}

static void
other_messages_go_on(void **state)
{
	struct outcome o;
	struct nothing done = { .ok = true };
	uint64_t greeting;

	(void)state;
	raw_serve(WAIT_MS, NULL);

	struct address to = raw_hear(&greeting);

	raw_greet(&to, greeting, MSG_snapshot_get);
	peer_put(&o, 10);
	assert_false(o.ended);
	raw_reply(&to, (struct envelope){ .frame = frame_reply, .id = o.id }, MSG_nothing, &done);
	assert_true(peer_wait(&o, AT_ONCE_MS));
	assert_true(o.replied);
}

/* Of two servers one is of the other build, and one is not up yet. */
static void
a_server_of_the_same_build_is_waited_for(void **state)
{
	char other[200];
	struct outcome o;
	uint64_t greeting;

	(void)state;
	snprintf(other, sizeof other, "ipc://%s/executor-snapshotd/1", peer_directory());
	raw_serve(WAIT_MS, other);

	struct address to = raw_hear(&greeting);

	raw_greet(&to, greeting, MSG_snapshot_get);
	peer_ask(&o, "instance", NULL, 0);
	peer_run(100);
	assert_false(o.ended);
	peer_serve(&(struct peer_options){ 0 });
	assert_true(peer_wait(&o, 5000));
	assert_true(o.replied);
	assert_string_equal(o.text, "1");
}

/* An asker that does not compare is refused by the server, and served in the rest. */
static void
the_server_refuses_at_once(void **state)
{
	struct snapshot_put put = { .sha256 = digest, .content = blob_copy("", 0) };

	(void)state;
	peer_serve(&(struct peer_options){ 0 });
	peer_client(&(struct peer_options){ 0 });
	raw_client();
	raw_hello("executor", MSG_snapshot_get);
	raw_get(7, "echo");
	raw_expect_failure(7, ERR_unavailable,
	    "snapshot_get: executor raw (version 0.0.9) and snapshotd (version " CLOISTER_VERSION
	    ") describe it differently");
	raw_send(
	    (struct envelope){ .frame = frame_request, .id = 8, .message = (char *)"snapshot_put" },
	    MSG_snapshot_put, &put);
	assert_true(raw_replied(8));
}

#define build_test(f) cmocka_unit_test_setup_teardown(f, raw_setup, raw_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		build_test(the_asker_refuses_at_once),
		build_test(what_waited_for_the_greeting_is_refused_by_it),
		build_test(other_messages_go_on),
		build_test(a_server_of_the_same_build_is_waited_for),
		build_test(the_server_refuses_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
