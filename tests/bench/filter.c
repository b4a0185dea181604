/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - prints, in hexadecimal digits, the seccomp program that a Python program in a box
 * loads. */
#include "executor/builder/confine/filter.h"

#include <stdio.h>
#include <stdlib.h>

int
main(void)
{
	static struct filter filter;
	struct err e;
	const unsigned char *code = (const unsigned char *)filter.code;

	if (filter_make(&filter, FILTER_PYTHON | FILTER_COUNTED | FILTER_SHARING, &e) < 0) {
		fprintf(stderr, "bench_filter: %s\n", e.text);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < filter.size * sizeof *filter.code; i++)
		printf("%02x", code[i]);
	return EXIT_SUCCESS;
}
