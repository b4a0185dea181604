/* SPDX-License-Identifier: Apache-2.0 */
/* test_bus_fault.c - instances that cannot do their work until they are started again. */
#include "tests/unit/bus_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Until its server says so, or has no fault. */
static void
await_lack(const char *why)
{
	const char *now = bus_lacks(PEER_snapshotd);

	for (int i = 0; i < 500 && (why == NULL ? now != NULL : strcmp(now, why) != 0); i++) {
		peer_run(10);
		now = bus_lacks(PEER_snapshotd);
	}
	if (why == NULL)
		assert_null(now);
	else
		assert_string_equal(now, why);
}

static void
assert_asks(const char *instance)
{
	static struct outcome who;

	peer_ask(&who, "instance", NULL, 0);
	assert_true(peer_wait(&who, 5000));
	assert_string_equal(who.text, instance);
}

/* While it alone is there, it can say why. */
static void
one_with_a_fault_is_asked_last(void **state)
{
	(void)state;
	peer_serve(&(struct peer_options){ .instance = "a", .faulty = true });
	peer_client(&(struct peer_options){ .connect = "a,b" });
	assert_string_equal(bus_lacks(PEER_snapshotd), "snapshotd is not connected");
	assert_asks("a");
	await_lack("snapshotd cannot do its work until it is started again; its log says why");
	peer_serve(&(struct peer_options){ .instance = "b" });
	await_lack(NULL);
	for (int i = 0; i < 4; i++)
		assert_asks("b");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    one_with_a_fault_is_asked_last, peer_setup, peer_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
