/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_resolver.c - which server is asked, and what a hostile or silent one can do. */
#include "executor/egress/resolver.h"

#include "scratch.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/egress/dns.h"
#include "executor/egress/options.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { GUARD_MS = 5000, QUESTIONS = 16 };

static char directory[] = "/tmp/cloister-resolver-XXXXXX";

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);

/* The files of /etc are the test's. */
FILE *
__wrap_fopen(const char *path, const char *mode)
{
	char other[256];

	if (strncmp(path, "/etc/", 5) != 0)
		return __real_fopen(path, mode);
	snprintf(other, sizeof other, "%s/%.100s", directory, path + 5);
	return __real_fopen(other, mode);
}

static void
write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%.100s", directory, name);
	file = __real_fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* ---- a server ---- */

static struct {
	int sock;
	uint16_t port;
	size_t count;              /* of questions */
	uint16_t types[QUESTIONS]; /* their types */
	void (*answer)(unsigned char *message, struct dns_question *asked,
	    const union address *from); /* NULL: it is silent */
} server;

static void
reply(const unsigned char *message, size_t size, const union address *to)
{
	assert_int_equal(
	    sendto(server.sock, message, size, 0, &to->any, sizeof to->v4), (ssize_t)size);
}

static void
on_question(void *self, uint32_t events)
{
	unsigned char message[DNS_BYTES];
	struct dns_question asked;
	union address from;
	socklen_t size = sizeof from;
	ssize_t n = recvfrom(server.sock, message, sizeof message - 64, 0, &from.any, &size);

	(void)self, (void)events;
	assert_true(n > 0 && dns_read_question(message, (size_t)n, &asked) == 0);
	if (server.count < QUESTIONS)
		server.types[server.count++] = asked.type;
	if (server.answer != NULL)
		server.answer(message, &asked, &from);
}

static void
good(unsigned char *message, struct dns_question *asked, const union address *from)
{
	const struct in_addr address = { htonl(0xc0000207) }; /* 192.0.2.7 */
	size_t size = dns_answer(message, asked, DNS_OK, &address);

	reply(message, size, from);
}

/* Replies to other questions, and parts of one, before the reply. */
static void
forged(unsigned char *message, struct dns_question *asked, const union address *from)
{
	const struct in_addr wrong = { htonl(0x7f000001) };
	unsigned char copy[DNS_BYTES];
	size_t size;

	memcpy(copy, message, asked->size);
	reply(copy, asked->size, from); /* a question */
	size = dns_answer(copy, asked, DNS_OK, &wrong);
	reply(copy, 1, from);
	reply(copy, DNS_HEAD, from);
	copy[1] ^= 1; /* id */
	reply(copy, size, from);
	copy[1] ^= 1;
	copy[DNS_HEAD + 1] ^= 1; /* name */
	reply(copy, size, from);
	copy[DNS_HEAD + 1] ^= 1;
	copy[asked->size - 3] ^= DNS_A ^ DNS_AAAA; /* type */
	reply(copy, size, from);
	copy[5] = 2; /* number of questions */
	reply(copy, size, from);
	good(message, asked, from);
}

/* A name without an address of IPv4. */
static void
no_address(unsigned char *message, struct dns_question *asked, const union address *from)
{
	reply(message, dns_answer(message, asked, DNS_NO_NAME, NULL), from);
}

/* The record says that it is longer than the message. */
static void
torn(unsigned char *message, struct dns_question *asked, const union address *from)
{
	const struct in_addr address = { htonl(0xc0000207) };
	size_t size = dns_answer(message, asked, DNS_OK, &address);

	reply(message, size - 2, from);
}

/* More records than there is room for, each of them 28 bytes less than the message's rest. */
static void
many(unsigned char *message, struct dns_question *asked, const union address *from)
{
	const struct in_addr address = { htonl(0xc0000207) };
	size_t size = dns_answer(message, asked, DNS_OK, &address), record = size - asked->size;

	for (int i = 1; i < 20; i++, size += record)
		memcpy(message + size, message + asked->size, record);
	message[7] = 20;
	reply(message, size, from);
}

static int
begin_server(void)
{
	union address at = { .v4 = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof at.v4;
	struct err e;

	server.count = 0;
	server.answer = good;
	server.sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (server.sock < 0 || bind(server.sock, &at.any, size) < 0 ||
	    getsockname(server.sock, &at.any, &size) < 0)
		return -1;
	server.port = ntohs(at.v4.sin_port);
	return loop_watch(server.sock, EPOLLIN, on_question, NULL, &e);
}

/* ---- a question ---- */

static struct {
	int done;
	size_t n;
	union address first;
} got;

static void
on_done(void *self, const union address *addresses, size_t n)
{
	(void)self;
	got.done++;
	got.n = n;
	if (n > 0)
		got.first = addresses[0];
	loop_stop();
}

static void
stop(void *self)
{
	(void)self;
	loop_stop();
}

/* The number of its addresses; -1: no end in time. */
static int
ask(const char *name)
{
	uint64_t guard = loop_after(GUARD_MS, stop, NULL);
	struct err e;

	memset(&got, 0, sizeof got);
	if (resolver_ask(name, on_done, NULL) == NULL || got.done != 0 || loop_run(&e) < 0)
		return -1;
	loop_unset(guard);
	return got.done == 1 ? (int)got.n : -1;
}

static const char *
first_address(void)
{
	static char text[INET6_ADDRSTRLEN];

	return inet_ntop(AF_INET, &got.first.v4.sin_addr, text, sizeof text);
}

static int
open_at_server(struct err *e)
{
	char text[32];

	snprintf(text, sizeof text, "127.0.0.1:%u", server.port);
	return resolver_open(text, e);
}

static int
set_up(void **unused)
{
	struct err e;

	(void)unused;
	options.connect_ms = 10000;
	if (scratch_make(directory) < 0 || loop_open(&e) < 0 || begin_server() < 0)
		return -1;
	return open_at_server(&e);
}

static int
tear_down(void **unused)
{
	(void)unused;
	loop_forget(server.sock);
	close(server.sock);
	loop_close();
	return scratch_remove(directory);
}

/* ---- cases ---- */

static void
only_the_reply_to_the_question_counts(void **unused)
{
	(void)unused;
	server.answer = forged;
	assert_int_equal(ask("a.test"), 1);
	assert_string_equal(first_address(), "192.0.2.7");
	assert_int_equal(server.count, 1);
}

static void
a_name_without_an_address_is_asked_for_both_kinds(void **unused)
{
	(void)unused;
	server.answer = no_address;
	assert_int_equal(ask("a.test"), 0);
	assert_int_equal(server.count, 2);
	assert_int_equal(server.types[0], DNS_A);
	assert_int_equal(server.types[1], DNS_AAAA);
	server.answer = torn;
	assert_int_equal(ask("a.test"), 0);
}

static void
addresses_are_bounded(void **unused)
{
	(void)unused;
	server.answer = many;
	assert_int_equal(ask("a.test"), RESOLVER_ADDRESSES);
}

static void
a_silent_server_is_asked_again_and_given_up(void **unused)
{
	int64_t began_ms = loop_now_ms();

	(void)unused;
	options.connect_ms = 200;
	server.answer = NULL;
	assert_int_equal(ask("a.test"), 0);
	assert_int_equal(server.count, 4);
	assert_true(loop_now_ms() - began_ms >= 190);
}

static void
a_question_that_is_cancelled_has_no_end(void **unused)
{
	struct err e;

	(void)unused;
	memset(&got, 0, sizeof got);
	resolver_cancel(resolver_ask("a.test", on_done, NULL));
	resolver_cancel(NULL);
	loop_after(50, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
	assert_int_equal(got.done, 0);
}

/* In a process of its own, because the files are read once.  @ in resolv: the server. */
static int
asked_with(const char *hosts, const char *resolv)
{
	const char *at = strchr(resolv, '@');
	char text[512];
	int status;
	pid_t pid;

	if (at == NULL)
		at = resolv + strlen(resolv);
	snprintf(text, sizeof text, "%.*s", (int)(at - resolv), resolv);
	if (*at == '@')
		snprintf(text + strlen(text), sizeof text - strlen(text), "127.0.0.1:%u%s",
		    server.port, at + 1);
	write_file("hosts", hosts);
	write_file("resolv.conf", text);
	pid = fork();
	if (pid == 0) {
		struct err e;

		loop_close();
		if (loop_open(&e) < 0 ||
		    loop_watch(server.sock, EPOLLIN, on_question, NULL, &e) < 0 ||
		    resolver_open("", &e) < 0)
			_exit(99);
		_exit(ask("a.test") + (server.count > 0 ? 10 : 0));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
the_files_of_the_host_are_read(void **unused)
{
	static const struct {
		const char *hosts, *resolv;
		int want; /* addresses, and 10 if the server was asked */
	} rows[] = {
		{ "", "nameserver @\n", 11 },
		{ "", "# x\nsearch a b\nnameserver\t@\nnameserver 192.0.2.1\n", 11 },
		{ "", "nameserver @ # the local one\n", 11 },
		{ "", "nameserver   @ \t\n", 11 },
		{ "", "nameserver nonsense\nnameserver @\n", 11 },
		{ "", "nameserver\nnameserver @\n", 11 },
		{ "", "#nameserver @\n", 0 },
		{ "", "", 0 },
		{ "192.0.2.9 a.test\n", "nameserver @\n", 1 },
		{ "192.0.2.9\tb.test  A.TEST # c.test\n2001:db8::1 a.test\n", "nameserver @\n", 2 },
		{ "#192.0.2.9 a.test\n192.0.2.9 b.test #a.test\n", "nameserver @\n", 11 },
		{ "nonsense a.test\n\n \n", "nameserver @\n", 11 },
	};

	(void)unused;
	memset(&got, 0, sizeof got);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int have = asked_with(rows[i].hosts, rows[i].resolv);

		if (have != rows[i].want)
			fail_msg("%zu: %d instead of %d", i, have, rows[i].want);
	}
}

static void
a_setting_that_is_no_address_is_refused(void **unused)
{
	struct err e;

	(void)unused;
	assert_int_equal(resolver_open("dns.test", &e), -1);
	assert_int_equal(e.code, ERR_invalid_argument);
	assert_int_equal(open_at_server(&e), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* Before a case sets a server. */
static int
files_set_up(void **unused)
{
	struct err e;

	(void)unused;
	options.connect_ms = 10000;
	return scratch_make(directory) < 0 || loop_open(&e) < 0 ? -1 : begin_server();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    the_files_of_the_host_are_read, files_set_up, tear_down),
		TEST(only_the_reply_to_the_question_counts),
		TEST(a_name_without_an_address_is_asked_for_both_kinds),
		TEST(addresses_are_bounded),
		TEST(a_silent_server_is_asked_again_and_given_up),
		TEST(a_question_that_is_cancelled_has_no_end),
		TEST(a_setting_that_is_no_address_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
