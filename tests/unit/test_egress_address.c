/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_address.c - which addresses programs may reach. */
#include "executor/egress/address.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool
permitted(const char *text)
{
	union address address;

	assert_int_equal(address_read(text, 443, &address), 0);
	return address_is_permitted(&address);
}

static void
test_public(void **state)
{
	static const char *const yes[] = { "1.1.1.1", "8.8.8.8", "168.63.129.15", "168.63.129.17",
		"172.15.255.255", "172.32.0.1", "223.255.255.255", "2600::1", "2a00:1450::1" };
	static const char *const no[] = { "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1",
		"168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
		"192.168.1.1", "198.18.0.1", "198.19.255.255", "203.0.113.1", "224.0.0.1",
		"255.255.255.255", "::", "::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "fe80::1",
		"fc00::1", "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "2002::1",
		"3fff::1" };
	struct err e;

	(void)state;
	assert_int_equal(address_open("", &e), 0);
	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(permitted(yes[i]));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(permitted(no[i]));
}

static void
test_settings(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(address_open("10.1.0.0/16, fd00::/8", &e), 0);
	assert_true(permitted("10.1.2.3"));
	assert_true(permitted("fd12::1"));
	assert_false(permitted("10.2.0.1"));
	assert_int_equal(address_open("10.1.0.0", &e), -1);
	assert_int_equal(address_open("10.1.0.0/33", &e), -1);
	assert_int_equal(address_open("x/8", &e), -1);
}

/* An address of this host is refused, unless its network is allowed by name. */
static void
test_own(void **state)
{
	union address own;
	struct err e;

	(void)state;
	assert_int_equal(address_read("8.8.4.4", 443, &own), 0);
	assert_int_equal(address_open("", &e), 0);
	address_refuse(&own);
	assert_false(permitted("8.8.4.4"));
	assert_true(permitted("8.8.4.5"));
	assert_int_equal(address_open("8.8.4.0/24", &e), 0);
	address_refuse(&own);
	assert_true(permitted("8.8.4.4"));
	assert_int_equal(address_open("", &e), 0);
	assert_int_equal(address_refuse_own(&e), 0);
	assert_true(permitted("8.8.4.4"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
