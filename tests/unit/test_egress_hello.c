/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_hello.c - the name in a client's first bytes, and what a server could read as another
 * one. */
#include "executor/egress/client_hello.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- HTTP ---- */

#define HEAD "POST / HTTP/1.1\r\nHost: a.test\r\n"

static void
test_http(void **state)
{
	static const struct {
		const char *head;
		enum hello_name found;
	} heads[] = {
		{ "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NAMED },
		{ "GET / HTTP/1.0\r\nhost:a.test:80 \r\nAccept: */*\r\n\r\nbody", HELLO_NAMED },
		{ "POST /a?b=c HTTP/1.1\r\nX-Y: \tz\r\nHOST:\ta.test\r\n\r\n", HELLO_NAMED },
		{ "GET / HTTP/1.1\r\nHost: a.test\r\n", HELLO_MORE },
		{ "", HELLO_MORE },
		{ "GET / HTTP/1.1\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost : b.test\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test\r\n folded: b\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nX: y\r\n\tHost: b.test\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nX: y\rHost: b.test\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nX: y\nHost: b.test\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.0\n\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ " GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "XX /x\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET /a b HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/2.0\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HELLO_NONE },
		{ "CONNECT b.test:80 HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test b.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test.\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test:\r\n\r\n", HELLO_NAMED },
		{ "GET / HTTP/1.1\r\nHost: a.test:80@b.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test:80 b.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test:,b.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: a.test:80:b.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nHost:\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nno field\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ "GET / HTTP/1.1\r\nX: \x01\r\nHost: a.test\r\n\r\n", HELLO_NONE },
		{ HEAD "Content-Length: 1\r\n\r\n", HELLO_NAMED },
		{ HEAD "Transfer-Encoding: chunked\r\n\r\n", HELLO_NAMED },
		{ HEAD "Accept: a\r\nAccept: b\r\n\r\n", HELLO_NAMED },
		{ HEAD "Content-Length: 1\r\ncontent-length: 1\r\n\r\n", HELLO_NONE },
		{ HEAD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", HELLO_NONE },
		{ "POST / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n",
		    HELLO_NONE },
		{ "GET / HTTP/1.1\r\n: x\r\nHost: a.test\r\n\r\n", HELLO_NONE },
	};
	char name[DOMAIN_NAME];

	(void)state;
	for (size_t i = 0; i < COUNT(heads); i++) {
		enum hello_name found =
		    client_hello_of_http(heads[i].head, strlen(heads[i].head), name);

		if (found != heads[i].found)
			fail_msg("head %zu: %d", i, (int)found);
		if (found == HELLO_NAMED)
			assert_string_equal(name, "a.test");
	}
}

/* A head without an end is refused once it fills the room. */
static void
test_long(void **state)
{
	static char data[HELLO_BYTES];
	char name[DOMAIN_NAME];

	(void)state;
	memset(data, 'a', sizeof data);
	memcpy(data, "GET /", 5);
	assert_int_equal(client_hello_of_http(data, sizeof data - 1, name), HELLO_MORE);
	assert_int_equal(client_hello_of_http(data, sizeof data, name), HELLO_NONE);
}

/* ---- TLS ---- */

enum { ROOM = 1024 };

struct octets {
	unsigned char bytes[ROOM];
	size_t size;
};

static void
put(struct octets *m, size_t value, size_t bytes)
{
	while (bytes-- > 0)
		m->bytes[m->size++] = (unsigned char)(value >> 8 * bytes);
}

static void
put_server_name(struct octets *m, const char *const *names, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += 3 + strlen(names[i]);
	put(m, 0, 2);
	put(m, size + 2, 2);
	put(m, size, 2);
	for (size_t i = 0; i < n; i++) {
		put(m, 0, 1);
		put(m, strlen(names[i]), 2);
		memcpy(m->bytes + m->size, names[i], strlen(names[i]));
		m->size += strlen(names[i]);
	}
}

/* A ClientHello with these extensions, in one record. */
static struct octets
hello_of(const struct octets *extensions)
{
	struct octets m = { .size = 0 };
	size_t body = 2 + 32 + 1 + 2 + 2 + 2 + 2 + extensions->size;

	put(&m, 0x160301, 3);
	put(&m, body + 4, 2);
	put(&m, 1, 1);
	put(&m, body, 3);
	put(&m, 0x0303, 2);
	m.size += 32;
	put(&m, 0, 1);
	put(&m, 2, 2);
	put(&m, 0x1301, 2);
	put(&m, 0x0100, 2);
	put(&m, extensions->size, 2);
	memcpy(m.bytes + m.size, extensions->bytes, extensions->size);
	m.size += extensions->size;
	return m;
}

static enum hello_name
found_in(const struct octets *extensions)
{
	struct octets m = hello_of(extensions);
	char name[DOMAIN_NAME];
	enum hello_name found = client_hello_of_tls(m.bytes, m.size, name);

	for (size_t i = 1; found == HELLO_NAMED && i < m.size; i++)
		assert_int_equal(client_hello_of_tls(m.bytes, i, name), HELLO_MORE);
	if (found == HELLO_NAMED) {
		client_hello_of_tls(m.bytes, m.size, name);
		assert_string_equal(name, "a.test");
	}
	return found;
}

static void
put_other(struct octets *m, size_t type)
{
	put(m, type, 2);
	put(m, 2, 2);
	put(m, 0, 2);
}

/* Bytes behind the extensions, within the hello. */
static enum hello_name
with_tail(const struct octets *extensions)
{
	struct octets m = hello_of(extensions);
	char name[DOMAIN_NAME];

	put(&m, 0, 2);
	m.bytes[4] += 2;
	m.bytes[8] += 2;
	return client_hello_of_tls(m.bytes, m.size, name);
}

static void
test_tls(void **state)
{
	static const char *const names[] = { "a.test", "b.test" };
	struct octets one = { .size = 0 }, two = one, twice = one, hidden = one, none = one;

	(void)state;
	put_other(&one, 10);
	put_server_name(&one, names, 1);
	put_other(&one, 43);
	assert_int_equal(found_in(&one), HELLO_NAMED);
	put_server_name(&two, names, 2);
	assert_int_equal(found_in(&two), HELLO_NONE);
	put_server_name(&twice, names, 1);
	put_server_name(&twice, names, 1);
	assert_int_equal(found_in(&twice), HELLO_NONE);
	put_server_name(&hidden, names, 1);
	put_other(&hidden, 0xfe0d);
	assert_int_equal(found_in(&hidden), HELLO_NONE);
	put_other(&none, 43);
	assert_int_equal(found_in(&none), HELLO_NONE);
	assert_int_equal(with_tail(&one), HELLO_NONE);
	assert_int_equal(
	    client_hello_of_tls((const unsigned char *)"GET /", 5, (char[DOMAIN_NAME]){ 0 }),
	    HELLO_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_tls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
