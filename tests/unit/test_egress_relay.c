/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_relay.c - the limits of a run's connections, and which servers they never reach. */
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
end_run(size_t i)
{
	char id[2] = { (char)('0' + i), '\0' };
	struct end_network r = { .network = id };
	struct call call = { .message = MSG_end_network };
	struct err e;

	assert_int_equal(network_on_end_network(&call, &r, &e), 0);
	assert_int_equal(network_on_end_network(&call, &r, &e), -1);
	assert_int_equal(e.code, ERR_not_found);
}

static void
bytes_pass_both_ways_and_are_counted(void **unused)
{
	char text[16];
	int fd;

	(void)unused;
	played_listen();
	played_run(0, "ann");
	resolve("a.test");
	fd = played_connect(0, "198.18.0.1", played.port);
	assert_int_equal(played.nservers, 1);
	assert_int_equal(send(fd, "hello", 5, 0), 5);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	played_turn(PLAYED_MS);
	assert_int_equal(recv(played.servers[0], text, sizeof text, 0), 5);
	assert_int_equal(played_error(played.servers[0]), 0);
	assert_int_equal(send(played.servers[0], "goodbye", 7, 0), 7);
	played_turn(PLAYED_MS);
	assert_int_equal(recv(fd, text, sizeof text, MSG_DONTWAIT), 7);
	end_run(0);
	assert_int_equal(played.replies, 1);
	assert_int_equal(played.report.connections, 1);
	assert_int_equal(played.report.bytes_out, 5);
	assert_int_equal(played.report.bytes_in, 7);
	assert_int_equal(played_error(fd), 0);
	close(fd);
}

static void
connections_of_a_run_and_of_a_principal_are_bounded(void **unused)
{
	int fds[3];

	(void)unused;
	options.max_connections = 2;
	options.max_connections_each = 3;
	played_listen();
	played_run(0, "ann");
	played_run(1, "ann");
	resolve("a.test");
	fds[0] = played_connect(0, "198.18.0.1", played.port);
	fds[1] = played_connect(0, "198.18.0.1", played.port);
	played_refused(
	    played_connect(0, "198.18.0.1", played.port), "a.test too many connections at once");
	played_resolve(1, "a.test", DNS_A);
	fds[2] = played_connect(1, "198.18.0.1", played.port);
	assert_int_equal(played_error(fds[2]), EAGAIN);
	played_refused(played_connect(1, "198.18.0.1", played.port),
	    "a.test too many connections of all your runs");
	close(fds[0]);
	shutdown(played.servers[0], SHUT_RDWR);
	played_turn(PLAYED_MS);
	close(played_connect(1, "198.18.0.1", played.port));
	assert_int_equal(played.nservers, 4);
	close(fds[1]);
	close(fds[2]);
}

static void
bytes_of_a_run_are_bounded(void **unused)
{
	static char data[3000];
	int fd;

	(void)unused;
	options.max_bytes = 2000;
	played_listen();
	played_run(0, "ann");
	resolve("a.test");
	fd = played_connect(0, "198.18.0.1", played.port);
	assert_int_equal(send(fd, data, 1000, 0), 1000);
	played_turn(PLAYED_MS);
	assert_int_equal(played_error(fd), EAGAIN);
	assert_int_equal(send(played.servers[0], data, 3000, 0), 3000);
	played_turn(PLAYED_MS);
	assert_non_null(strstr(played.told, "a.test the run's limit of bytes is reached"));
	assert_true(recv(fd, data, sizeof data, MSG_DONTWAIT) <= 3000);
	close(fd);
	fd = played_connect(0, "198.18.0.1", played.port);
	assert_true(send(fd, data, 10, MSG_NOSIGNAL) <= 10);
	played_turn(PLAYED_MS);
	assert_true(played_error(fd) != EAGAIN);
	close(fd);
}

static void
a_connection_without_traffic_is_closed(void **unused)
{
	int fd;

	(void)unused;
	options.idle_ms = 10 * PLAYED_MS;
	played_listen();
	played_run(0, "ann");
	resolve("a.test");
	fd = played_connect(0, "198.18.0.1", played.port);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
		played_turn(PLAYED_MS);
		assert_int_equal(played_error(fd), EAGAIN);
	}
	played_turn(12 * PLAYED_MS);
	assert_int_equal(played_error(fd), 0);
	close(fd);
}

/* A program connects to an address that it resolved, and the name's own address is not reached. */
static void
addresses_that_are_not_public_are_refused(void **unused)
{
	static const char *const inside[] = { "10.0.0.1", "169.254.169.254", "192.168.1.1",
		"198.18.0.1", "0.0.0.0", "[::1]:1", "[fd00::1]:1" };

	(void)unused;
	played_run(0, "ann");
	resolve("a.test");
	for (size_t i = 0; i < COUNT(inside); i++) {
		snprintf(played.address, sizeof played.address, "%s", inside[i]);
		played_refused(
		    played_connect(0, "198.18.0.1", played.port), "its address is not public");
	}
	played.address[0] = '\0';
	played_refused(played_connect(0, "198.18.0.1", played.port), "the name has no address");
	snprintf(played.address, sizeof played.address, "127.0.0.1");
	played_refused(
	    played_connect(0, "198.18.0.1", played.port), "the server cannot be reached");
}

static void
the_first_bytes_name_the_server(void **unused)
{
	static const char *const wrong[] = { "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n" };
	int fd;

	(void)unused;
	options.connect_ms = 20 * PLAYED_MS;
	played_run(0, "ann");
	resolve("a.test");
	for (size_t i = 0; i < COUNT(wrong); i++) {
		fd = played_connect(0, "198.18.0.1", 80);
		assert_true(send(fd, wrong[i], strlen(wrong[i]), 0) > 0);
		played_turn(PLAYED_MS);
		played_refused(fd, "refused 80 a.test the Host of the request is another one");
	}
	fd = played_connect(0, "198.18.0.1", 443);
	assert_int_equal(send(fd, "GET / HTTP/1.1\r\n", 16, 0), 16);
	played_turn(PLAYED_MS);
	played_refused(fd, "refused 443 a.test the TLS server name is another one");
	fd = played_connect(0, "198.18.0.1", 80);
	assert_int_equal(send(fd, "GET / HT", 8, 0), 8);
	played_turn(PLAYED_MS);
	assert_int_equal(played_error(fd), EAGAIN);
	played_turn(22 * PLAYED_MS);
	played_refused(fd, "refused 80 a.test no answer in time");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, played_set_up, played_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bytes_pass_both_ways_and_are_counted),
		TEST(connections_of_a_run_and_of_a_principal_are_bounded),
		TEST(bytes_of_a_run_are_bounded),
		TEST(a_connection_without_traffic_is_closed),
		TEST(addresses_that_are_not_public_are_refused),
		TEST(the_first_bytes_name_the_server),
	};

	return cmocka_run_group_tests(tests, played_allow_loopback, NULL);
}
