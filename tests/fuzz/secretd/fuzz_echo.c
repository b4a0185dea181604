/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_echo.c - an answer with two secrets. The first two bytes are their lengths; the secrets and
 * the answer follow. It arrives in pieces of the first length.
 *
 * Each byte is what a search of the whole answer says: a mask in a secret, itself elsewhere.
 */
#include "common/base/auto.h"
#include "common/base/must.h"
#include "executor/secretd/echo.h"

#include <stdint.h>
#include <string.h>

enum { MOST = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
mask(char *out, const char *in, size_t size, const char *secret, size_t length)
{
	for (size_t i = 0; i + length <= size; i++)
		if (memcmp(in + i, secret, length) == 0)
			memset(out + i, '*', length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char expected[MOST], out[MOST + ECHO_BYTES];
	struct echo_filter echo = { 0 };

	if (size < 2 || size > MOST || size < 2u + data[0] + data[1] || data[0] == 0 ||
	    data[1] == 0)
		return 0;

	const char *first = (const char *)data + 2, *second = first + data[0];
	const char *in = second + data[1];
	size_t rest = size - 2u - data[0] - data[1], n = 0;

	memcpy(expected, in, rest);
	mask(expected, in, rest, first, data[0]);
	mask(expected, in, rest, second, data[1]);
	echo_add(&echo, first, data[0]);
	echo_add(&echo, second, data[1]);
	for (size_t at = 0; at < rest; at += data[0])
		n += echo_pass(&echo, in + at, rest - at < data[0] ? rest - at : data[0], out + n);
	n += echo_end(&echo, out + n);
	must(n == rest && memcmp(out, expected, n) == 0);
	return 0;
}
