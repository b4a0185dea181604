/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_guest.c - what a program may write on its driver's channel.
 *
 * Input: how many bytes come at once (1), and what is left is the stream.  However it is cut, what
 * is taken is text within the bounds that box.h promises.
 */
#include "common/base/auto.h"
#include "common/base/err.h"
#include "common/base/utf8.h"
#include "executor/guest/protocol.h"
#include "executor/sandbox/frames.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
feed(struct frames *f, const uint8_t *data, size_t size, size_t step)
{
	for (size_t at = 0, n; at < size; at += n) {
		n = size - at < step ? size - at : step;

		auto_free uint8_t *exact = malloc(n); /* so that a sanitizer sees a byte too far */

		memcpy(exact, data + at, n);
		if (frames_feed(f, exact, n) < 0)
			return;
	}
}

static void
check_text(const char *text, size_t most)
{
	if (text != NULL)
		must(strlen(text) <= most && utf8_valid(text, strlen(text)));
}

static bool
same(const struct box_end *a, const struct box_end *b)
{
	if (a->result.size != b->result.size || a->variables.count != b->variables.count ||
	    a->error_line != b->error_line || a->nrich != b->nrich)
		return false;
	return a->result.size == 0 || memcmp(a->result.data, b->result.data, a->result.size) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frames pieces = { 0 }, whole = { 0 };
	struct box_end end = { 0 }, other = { 0 };

	if (size < 1)
		return -1;
	feed(&pieces, data + 1, size - 1, data[0] % 32 + 1);
	feed(&whole, data + 1, size - 1, size);
	frames_take(&pieces, &end);
	frames_take(&whole, &other);
	must(same(&end, &other));
	must(end.result.size <= GUEST_MAX_RESULT && end.variables.count <= 256);
	must(utf8_valid(end.result.data, end.result.size));
	for (size_t i = 0; i < end.variables.count; i++)
		check_text(end.variables.items[i], 256);
	for (size_t i = 0; i < end.nrich; i++) {
		check_text(end.rich[i].mime_type, 128);
		must(end.rich[i].data.size <= GUEST_MAX_RICH);
	}
	check_text(end.error_type, 256);
	check_text(end.error_text, 4096);
	must(end.error_line <= 10000000);
	box_end_clear(&end);
	box_end_clear(&other);
	frames_clear(&pieces);
	frames_clear(&whole);
	return 0;
}
