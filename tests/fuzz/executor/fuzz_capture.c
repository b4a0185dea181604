/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_capture.c - what a program prints, however much and in whichever pieces.
 *
 * Input: how much is kept (2 bytes), and pieces (size in 1, and how often their byte is said in 1).
 * What is kept is the front and the end of what came, and nothing in between is kept or counted
 * twice.
 */
#include "executor/sandbox/capture.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <string.h>

enum {
	MOST = 1 << 16,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t all[MOST];
	struct capture c = { 0 };
	struct blob kept;
	size_t total = 0;

	if (size < 2)
		return -1;
	c.limit = (uint64_t)data[0] | (uint64_t)data[1] << 8;

	size_t limit = c.limit, front = limit - limit / 2;

	for (size_t i = 2; i + 1 < size; i += 2) {
		size_t n = (size_t)data[i] * data[i + 1];

		if (total + n > MOST)
			break;
		for (size_t k = 0; k < n; k++)
			all[total + k] = (uint8_t)(total + k + i);
		must(capture_add(&c, all + total, n) == 0);
		total += n;
	}

	uint64_t dropped = capture_take(&c, &kept);

	must(kept.size + dropped == total && kept.size == (total < limit ? total : limit));
	must(memcmp(kept.data, all, kept.size < front ? kept.size : front) == 0);
	if (dropped > 0)
		must(memcmp((char *)kept.data + front, all + total - limit / 2, limit / 2) == 0);
	else
		must(memcmp(kept.data, all, total) == 0);
	blob_clear(&kept);
	return 0;
}
