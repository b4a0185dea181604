/* SPDX-License-Identifier: Apache-2.0 */
/* test_secretd_request.c - requests to a bound name: what passes, how it is written anew, and what
 * is refused because a server could read it differently. */
#include "executor/secretd/request.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define GET   "GET / HTTP/1.1\r\n"
#define HOST  "Host: a.test\r\n"
#define OURS  "Authorization: Basic b3Vycw==\r\nAccept-Encoding: identity\r\n"
#define POST  "POST /u HTTP/1.1\r\n" HOST
#define CHUNK "Transfer-Encoding: chunked\r\n"

static struct request request;

/* -1: refused; the output before that is in out. */
static int
play(const char *in, size_t size, size_t piece, char *out, struct err *e)
{
	size_t n = 0;
	int used = 0;

	request_open(&request, "a.test", "Basic b3Vycw==");
	for (size_t at = 0; at < size && used >= 0; at += (size_t)used) {
		used = request_read(&request, in + at, size - at < piece ? size - at : piece, e);
		if (used < 0)
			break;
		memcpy(out + n, request.out, request.nout);
		n += request.nout;
		request.nout = 0;
	}
	out[n] = '\0';
	return used < 0 ? -1 : 0;
}

static void
test_passed(void **state)
{
	static const struct {
		const char *in, *out;
	} streams[] = {
		{ GET HOST "\r\n", GET HOST OURS "\r\n" },
		{ GET "hOST:A.Test:443\r\n\r\n", GET "hOST: A.Test:443\r\n" OURS "\r\n" },
		{ GET HOST "X:  y z\t\r\nEmpty:\r\n\r\n",
		    GET HOST "X: y z\r\nEmpty: \r\n" OURS "\r\n" },
		/* replaced, however often it is there */
		{ GET HOST "Authorization: Basic eDp5\r\nauthorization: x\r\n\r\n",
		    GET HOST OURS "\r\n" },
		{ GET HOST "Accept-Encoding: gzip\r\nUpgrade: h2c\r\nTE: trailers\r\n"
			   "HTTP2-Settings: x\r\nProxy-Authorization: x\r\n\r\n",
		    GET HOST OURS "\r\n" },
		{ GET HOST "Connection: keep-alive, Upgrade,, TE\r\n\r\n", GET HOST OURS "\r\n" },
		{ GET HOST "Connection: Close\r\n\r\n", GET HOST OURS "Connection: close\r\n\r\n" },
		/* two, and one behind a body of each kind */
		{ GET HOST "\r\n" GET HOST "\r\n", GET HOST OURS "\r\n" GET HOST OURS "\r\n" },
		{ POST "Content-Length: 5\r\n\r\nhello" GET HOST "\r\n",
		    POST "Content-Length: 5\r\n" OURS "\r\nhello" GET HOST OURS "\r\n" },
		{ POST "Content-Length: 0\r\n\r\n" GET HOST "\r\n",
		    POST "Content-Length: 0\r\n" OURS "\r\n" GET HOST OURS "\r\n" },
		{ POST CHUNK "\r\n5;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n" GET HOST "\r\n",
		    POST CHUNK OURS "\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n" GET HOST OURS
				    "\r\n" },
		/* a body may look like a request */
		{ POST "Content-Length: 18\r\n\r\n" GET "\r\n",
		    POST "Content-Length: 18\r\n" OURS "\r\n" GET "\r\n" },
	};
	char out[4096];
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(streams); i++)
		for (size_t piece = 1; piece < 300; piece = piece * 2 + 1) {
			if (play(streams[i].in, strlen(streams[i].in), piece, out, &e) < 0)
				fail_msg("%zu: %s", i, e.text);
			assert_string_equal(out, streams[i].out);
			assert_true(request_is_between(&request));
		}
}

static const struct {
	const char *in, *why;
} refusals[] = {
	{ "GET / HTTP/1.0\r\n" HOST "\r\n", "HTTP/1.1" },
	{ "GET / HTTP/2.0\r\n" HOST "\r\n", "HTTP/1.1" },
	{ "GET / http/1.1\r\n" HOST "\r\n", "HTTP/1.1" },
	{ "GET /\r\n" HOST "\r\n", "HTTP/1.1" },
	{ "GET  / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1" },
	{ "GET /a b HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1" },
	{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1" },
	{ "GET https://a.test/ HTTP/1.1\r\n" HOST "\r\n", "not a path" },
	{ "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "not a path" },
	{ "CONNECT a.test:443 HTTP/1.1\r\n" HOST "\r\n", "CONNECT" },
	{ "TRACE / HTTP/1.1\r\n" HOST "\r\n", "TRACE" },
	{ "trace / HTTP/1.1\r\n" HOST "\r\n", "TRACE" },
	{ "GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", "not ASCII" },
	{ "G(T / HTTP/1.1\r\n" HOST "\r\n", "request line" },
	{ "GET / HTTP/1.1\n" HOST "\r\n", "request line" },
	{ "\r\n" GET HOST "\r\n", "empty" },
	{ "\n", "empty" },
	{ GET "\r\n", "no Host" },
	{ GET HOST HOST "\r\n", "two Host" },
	{ GET "Host: b.test\r\n\r\n", "another name" },
	{ GET "Host: a.test.\r\n\r\n", "another name" },
	{ GET "Host: a.test:80\r\n\r\n", "another name" },
	{ GET "Host: a.test:\r\n\r\n", "another name" },
	{ GET "Host: a.test:443:443\r\n\r\n", "another name" },
	{ GET "Host: a.test,b.test\r\n\r\n", "another name" },
	{ GET "Host: a.tes\r\n\r\n", "another name" },
	{ GET "Host:\r\n\r\n", "another name" },
	{ GET HOST "\r\n" GET "Host: b.test\r\n\r\n", "another name" },
	{ GET "Host : a.test\r\n\r\n", "not well-formed" },
	{ GET HOST " folded: x\r\n\r\n", "not well-formed" },
	{ GET HOST "X: y\r\n\tfolded\r\n\r\n", "not well-formed" },
	{ GET HOST "X: y\nHost: b.test\r\n\r\n", "not well-formed" },
	{ GET HOST "X: y\rZ: a\r\n\r\n", "not well-formed" },
	{ GET HOST "X: \x01\r\n\r\n", "not well-formed" },
	{ GET HOST ": x\r\n\r\n", "not well-formed" },
	{ GET HOST "no field\r\n\r\n", "not well-formed" },
	{ POST "Content-Length: 1\r\n" CHUNK "\r\n", "both" },
	{ POST "Content-Length: 1\r\ncontent-length: 1\r\n\r\n", "twice" },
	{ POST "Content-Length: 1, 1\r\n\r\n", "not a number" },
	{ POST "Content-Length: +1\r\n\r\n", "not a number" },
	{ POST "Content-Length:\r\n\r\n", "empty" },
	{ POST "Content-Length: 1234567890123456\r\n\r\n", "too large" },
	{ POST "Content_Length: 1\r\n\r\n", "read differently" },
	{ POST "Transfer_Encoding: chunked\r\n\r\n", "read differently" },
	{ POST CHUNK CHUNK "\r\n", "twice" },
	{ POST "Transfer-Encoding: gzip, chunked\r\n\r\n", "not chunked" },
	{ POST "Transfer-Encoding: identity\r\n\r\n", "not chunked" },
	{ POST "Trailer: x\r\n" CHUNK "\r\n", "behind a body" },
	{ POST CHUNK "\r\nx\r\n", "not a number" },
	{ POST CHUNK "\r\n\r\n", "not well-formed" },
	{ POST CHUNK "\r\n-1\r\n", "not a number" },
	{ POST CHUNK "\r\n0x1\r\n", "not a number" },
	{ POST CHUNK "\r\n1 \r\n", "not a number" },
	{ POST CHUNK "\r\n1000000000000000\r\n", "not well-formed" },
	{ POST CHUNK "\r\n1\nx\r\n", "not a number" },
	{ POST CHUNK "\r\n1;x=\x01\r\n", "not well-formed" },
	{ POST CHUNK "\r\n1\r\nxy\r\n", "behind a chunk" },
	{ POST CHUNK "\r\n1\r\nx\n", "behind a chunk" },
	{ POST CHUNK "\r\n0\r\nX: y\r\n\r\n", "behind a chunk" },
	{ GET HOST "Connection: authorization\r\n\r\n", "names a field" },
	{ GET HOST "Connection: close, Content-Length\r\n\r\n", "names a field" },
};

static void
test_refused(void **state)
{
	char out[4096];
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++)
		for (size_t piece = 1; piece < 300; piece = piece * 2 + 1) {
			if (play(refusals[i].in, strlen(refusals[i].in), piece, out, &e) == 0)
				fail_msg("%zu passed: %s", i, out);
			if (strstr(e.text, refusals[i].why) == NULL)
				fail_msg("%zu: %s", i, e.text);
		}
}

static void
test_bounds(void **state)
{
	static char in[REQUEST_HEAD + 64], out[2 * REQUEST_OUT];
	struct err e;
	size_t n = strlen(GET HOST);

	(void)state;
	/* The fields that grow most: each gains a space. */
	memcpy(in, GET HOST, n);
	while (n + 4 <= REQUEST_HEAD - 2) {
		memcpy(in + n, "a:\r\n", 4);
		n += 4;
	}
	memcpy(in + n, "\r\n", 2);
	assert_int_equal(play(in, n + 2, n + 2, out, &e), 0);
	assert_non_null(strstr(out, OURS));
	memset(in + strlen(GET HOST), 'a', REQUEST_HEAD);
	assert_int_equal(play(in, REQUEST_HEAD + 1, 1000, out, &e), -1);
	assert_non_null(strstr(e.text, "32 KiB"));
	memset(in, '1', 300);
	memcpy(out, POST CHUNK "\r\n", sizeof(POST CHUNK "\r\n"));
	memcpy(out + strlen(out), "1;", 3);
	n = strlen(out);
	memset(out + n, 'x', 300);
	memcpy(in, out, n + 300);
	assert_int_equal(play(in, n + 300, 1000, out, &e), -1);
	assert_non_null(strstr(e.text, "too long"));
}

/* A long body passes in pieces, and nothing of it is kept. */
static void
test_long_body(void **state)
{
	static char in[100000], out[200000];
	struct err e;
	size_t n = strlen(POST "Content-Length: 90000\r\n\r\n");

	(void)state;
	memset(in, 'b', sizeof in);
	memcpy(in, POST "Content-Length: 90000\r\n\r\n", n);
	assert_int_equal(play(in, n + 90000, sizeof in, out, &e), 0);
	assert_int_equal(strlen(out), n + 90000 + strlen(OURS));
	assert_true(request_is_between(&request));
	assert_int_equal(play(in, n + 89999, sizeof in, out, &e), 0);
	assert_false(request_is_between(&request));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_long_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
