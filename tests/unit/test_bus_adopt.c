/* SPDX-License-Identifier: Apache-2.0 */
/* test_bus_adopt.c - a request that its server adopts, so that it no longer depends on its
 * client. */
#include "tests/unit/bus_peer.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct peer_options plain;

static void
pair(void)
{
	peer_serve(&plain);
	peer_client(&plain);
}

static struct outcome
adopt(uint64_t id)
{
	char what[64];

	snprintf(what, sizeof what, "adopt %llu", (unsigned long long)id);
	return peer_try(what);
}

/* Neither a cancel nor the end of the connection concerns it; its outcome comes to the adopter. */
static void
an_adopted_request_is_the_servers(void **state)
{
	struct outcome o;

	(void)state;
	pair();
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 0);
	peer_run(50);
	assert_string_equal(bus_asked(o.id), "1");
	assert_string_equal(adopt(o.id).text, "adopted");
	assert_int_equal(adopt(o.id).e.code, ERR_not_found); /* it is nobody's any more */
	bus_forget(o.id);
	assert_string_equal(bus_asked(o.id), "");
	bus_cancel(o.id);
	peer_try("echo");
	assert_int_equal(peer_note(0), ERR_none);
	bus_stop();
	loop_close();
	peer_client(&plain);
	assert_string_equal(peer_try("finish").text, "done");
	assert_int_equal(peer_note(2000), ERR_file_exists);
	assert_false(o.ended);
}

static void
an_adopted_request_can_be_stopped(void **state)
{
	struct outcome o, deferred;

	(void)state;
	pair();
	peer_try("echo");
	peer_ask(&o, "hang", NULL, 0);
	peer_run(50);
	adopt(o.id);
	bus_forget(o.id);
	assert_string_equal(peer_try("stop").text, "stopped");
	assert_int_equal(peer_note(2000), ERR_cancelled); /* its handler hears of it, */
	assert_int_equal(peer_note(2000), ERR_cancelled); /* and ends it */
	/* Its deadline holds. */
	peer_ask(&deferred, "hang", NULL, 300);
	peer_run(50);
	adopt(deferred.id);
	bus_forget(deferred.id);
	assert_int_equal(peer_note(2000), ERR_deadline_exceeded); /* its outcome, then */
	assert_int_equal(peer_note(2000), ERR_deadline_exceeded); /* its handler */
	assert_false(o.ended || deferred.ended);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    an_adopted_request_is_the_servers, peer_setup, peer_teardown),
		cmocka_unit_test_setup_teardown(
		    an_adopted_request_can_be_stopped, peer_setup, peer_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
