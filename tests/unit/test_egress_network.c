/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_network.c - the names of a run, the addresses that stand for them, and its end. */
#include "played_network.h"

#include "common/base/auto.h"
#include "executor/egress/dns.h"
#include "executor/egress/network.h"
#include "executor/egress/options.h"
#include "executor/egress/served.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *
resolve(const char *name)
{
	return played_resolve(0, name, DNS_A);
}

static void
a_name_has_one_address_in_its_run(void **unused)
{
	(void)unused;
	played_run(0, "ann");
	assert_string_equal(played.told, "serving;");
	assert_string_equal(resolve("x.a.test"), "198.18.0.1");
	assert_string_equal(resolve("a.test"), "198.18.0.2");
	assert_string_equal(resolve("X.A.TEST"), "198.18.0.1");
	assert_string_equal(played_resolve(0, "a.test", DNS_AAAA), "none");
	assert_string_equal(played_resolve(0, "y.a.test", DNS_AAAA), "none");
	assert_string_equal(resolve("z.a.test"), "198.18.0.3");
	assert_string_equal(played.told, "serving;");
}

static void
other_names_do_not_exist(void **unused)
{
	(void)unused;
	played_run(0, "ann");
	assert_string_equal(resolve("b.test"), "NXDOMAIN");
	assert_string_equal(played_resolve(0, "c.test", DNS_AAAA), "NXDOMAIN");
	assert_string_equal(resolve("xa.test"), "NXDOMAIN");
	assert_string_equal(played.told,
	    "serving;refused 0 b.test not allowed;refused 0 c.test not "
	    "allowed;refused 0 xa.test not allowed;");
	assert_int_equal(played.waiting, 0); /* nobody outside is asked */
}

static void
the_names_of_a_run_are_bounded(void **unused)
{
	char name[32];

	(void)unused;
	played_run(0, "ann");
	for (int i = 0; i < NETWORK_NAMES; i++) {
		snprintf(name, sizeof name, "n%d.a.test", i);
		assert_memory_equal(resolve(name), "198.18.", 7);
	}
	assert_string_equal(resolve("over.a.test"), "SERVFAIL");
	assert_string_equal(resolve("n255.a.test"), "198.18.1.0");
}

static void
what_is_no_question_is_not_answered(void **unused)
{
	static const char *const packets[] = { "x", "longer than a head of DNS" };
	auto_fd int fd = played_socket(SOCK_DGRAM, &(union address){ 0 });

	(void)unused;
	played_run(0, "ann");
	for (size_t i = 0; i < COUNT(packets); i++)
		assert_true(sendto(fd, packets[i], strlen(packets[i]), 0, &played_runs[0].at[0].any,
				sizeof played_runs[0].at[0].v4) > 0);
	played_turn(PLAYED_MS);
	assert_int_equal(played_error(fd), EAGAIN);
	assert_string_equal(resolve("a.test"), "198.18.0.1");
}

static void
an_address_of_no_name_is_refused(void **unused)
{
	static const char *const others[] = { "198.18.0.2", "198.18.0.0", "198.18.1.255",
		"198.17.255.255", "127.0.0.1", "0.0.0.0", "255.255.255.255" };

	(void)unused;
	played_run(0, "ann");
	resolve("a.test");
	for (size_t i = 0; i < COUNT(others); i++) {
		played.told[0] = '\0';
		played_refused(played_connect(0, others[i], played.port), others[i]);
		assert_non_null(strstr(played.told, "this address stands for no name"));
	}
	played.told[0] = '\0';
	played_refused(
	    played_connect(0, "198.18.0.1", 1), "refused 1 a.test not allowed at this port");
}

/* The executor has ended: so do the run's connections, and one reply frees the call. */
static void
a_cancelled_run_closes_everything(void **unused)
{
	struct err e;
	int fd;

	(void)unused;
	played_listen();
	played_run(0, "ann");
	assert_int_equal(played_serve(PLAYED_RUNS, "0", "ann", &e), -1);
	assert_int_equal(e.code, ERR_invalid_argument);
	assert_int_equal(played_serve(PLAYED_RUNS, "2", "ann", &e), -1);
	assert_non_null(strstr(e.text, "no sockets were passed"));
	resolve("a.test");
	fd = played_connect(0, "198.18.0.1", played.port);
	assert_int_equal(played_error(fd), EAGAIN);
	played_runs[0].call.on_cancel(&played_runs[0].call, ERR_unavailable);
	assert_int_equal(played.replies, 1);
	assert_int_equal(played_error(fd), 0);
	assert_int_equal(played_error(played.servers[0]), 0);
	assert_string_equal(resolve("a.test"), "silence");
	played_run(0, "ann");
	assert_string_equal(resolve("b.a.test"), "198.18.0.1");
	close(fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, played_set_up, played_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_has_one_address_in_its_run),
		TEST(other_names_do_not_exist),
		TEST(the_names_of_a_run_are_bounded),
		TEST(what_is_no_question_is_not_answered),
		TEST(an_address_of_no_name_is_refused),
		TEST(a_cancelled_run_closes_everything),
	};

	return cmocka_run_group_tests(tests, played_allow_loopback, NULL);
}
