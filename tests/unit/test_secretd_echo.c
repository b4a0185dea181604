/* SPDX-License-Identifier: Apache-2.0 */
/* test_secretd_echo.c - a secret in a stream, whole and in pieces, is masked; nothing else is. */
#include "executor/secretd/echo.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *in, *out;
} streams[] = {
	{ "", "" },
	{ "nothing", "nothing" },
	{ "secret01", "********" },
	{ "a secret01 b", "a ******** b" },
	{ "secret01secret01", "****************" },
	{ "secretsecret01", "secret********" },
	{ "secret0", "secret0" },
	{ "secret0 and more", "secret0 and more" },
	{ "ssecret01", "s********" },
	{ "et01bc23", "********" },
	/* one begins within the other */
	{ "secret01bc23!", "************!" },
	{ "secret01bc2!", "********bc2!" },
	{ "secret01bc2", "********bc2" },
};

static void
play(const char *in, size_t piece, char *out)
{
	struct echo_filter echo = { 0 };
	size_t n = 0, size = strlen(in);

	echo_add(&echo, "secret01", 8);
	echo_add(&echo, "et01bc23", 8);
	for (size_t at = 0; at < size; at += piece)
		n += echo_pass(&echo, in + at, size - at < piece ? size - at : piece, out + n);
	n += echo_end(&echo, out + n);
	out[n] = '\0';
}

static void
test_streams(void **state)
{
	char out[8192];

	(void)state;
	for (size_t i = 0; i < COUNT(streams); i++)
		for (size_t piece = 1; piece < 10; piece++) {
			play(streams[i].in, piece, out);
			assert_string_equal(out, streams[i].out);
		}
}

/* Only what may be the beginning of a secret waits. */
static void
test_nothing_else_waits(void **state)
{
	struct echo_filter echo = { 0 };
	char out[ECHO_BYTES + 64];

	(void)state;
	echo_add(&echo, "secret01", 8);
	assert_int_equal(echo_pass(&echo, "data: 1\n\n", 9, out), 9);
	assert_int_equal(echo_pass(&echo, "data: sec", 9, out), 6);
	assert_int_equal(echo_pass(&echo, "ond\n", 4, out), 7);
	assert_memory_equal(out, "second\n", 7);
	assert_int_equal(echo_end(&echo, out), 0);
}

/* A secret of the greatest length, and one that is the beginning of it. */
static void
test_long_secrets(void **state)
{
	static char secret[ECHO_BYTES], in[ECHO_BYTES + 2], out[3 * ECHO_BYTES];
	struct echo_filter echo = { 0 };
	size_t n;

	(void)state;
	memset(secret, 's', sizeof secret);
	secret[sizeof secret - 1] = 't';
	echo_add(&echo, secret, sizeof secret);
	echo_add(&echo, secret, 100);
	memcpy(in + 1, secret, sizeof secret);
	in[0] = '<';
	in[sizeof in - 1] = '>';
	n = echo_pass(&echo, in, 200, out);
	assert_int_equal(n, 1);
	n += echo_pass(&echo, in + 200, sizeof in - 200, out + n);
	n += echo_end(&echo, out + n);
	assert_int_equal(n, sizeof in);
	assert_int_equal(out[0], '<');
	assert_int_equal(out[n - 1], '>');
	assert_null(memchr(out, 's', n));
	assert_null(memchr(out, 't', n));
}

/* The stream ends in what may be the beginning of a long secret, which contains a short one. */
static void
test_end(void **state)
{
	struct echo_filter echo = { 0 };
	char out[64];
	size_t n;

	(void)state;
	echo_add(&echo, "longsecret01 and more", 21);
	echo_add(&echo, "secret01", 8);
	n = echo_pass(&echo, "<longsecret01 and", 17, out);
	assert_int_equal(n, 1);
	n += echo_end(&echo, out + n);
	assert_int_equal(n, 17);
	assert_memory_equal(out, "<long******** and", n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_nothing_else_waits),
		cmocka_unit_test(test_long_secrets),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
