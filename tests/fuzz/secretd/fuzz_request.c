/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_request.c - a stream of requests to a bound name. The first byte is the size of the pieces
 * in which it arrives.
 *
 * What is passed on is the same in any pieces, and does not change when it is read again: so the
 * server sees the requests that were checked. Before each request stands a head with our value,
 * once.
 */
#include "common/base/auto.h"
#include "executor/secretd/request.h"

#include <string.h>

#define VALUE "Basic b3VyczpvdXJz"
#define FIELD "\r\nAuthorization: " VALUE "\r\n"

enum { MOST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct request request;

/* How many bytes were passed on before the end, or before the refusal. */
static size_t
play(const char *in, size_t size, size_t piece, char *out, bool *refused)
{
	struct err e;
	size_t n = 0;

	*refused = false;
	request_open(&request, "a.test", VALUE);
	for (size_t at = 0; at < size && n + REQUEST_OUT < MOST;) {
		size_t now = size - at < piece ? size - at : piece;
		int used = request_read(&request, in + at, now, &e);

		*refused = used < 0;
		if (*refused)
			break;
		must(used > 0 && (size_t)used <= now);
		at += (size_t)used;
		memcpy(out + n, request.out, request.nout);
		n += request.nout;
		request.nout = 0;
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char whole[MOST], pieces[MOST], again[MOST];
	bool refused, also;

	if (size < 2)
		return 0;

	const char *in = (const char *)data + 1;
	size_t n = play(in, size - 1, size - 1, whole, &refused);
	size_t m = play(in, size - 1, data[0] + 1u, pieces, &also);

	/* Of a chunk's size or a body that is refused later, more pieces may have passed. */
	must(refused == also);
	must(memcmp(whole, pieces, n < m ? n : m) == 0 && (refused || n == m));
	if (n > 0)
		must(memmem(whole, n, FIELD, strlen(FIELD)) != NULL);
	m = play(whole, n, 4096, again, &also);
	must(!also && m == n && memcmp(whole, again, n) == 0);
	return 0;
}
