/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - cloister-keys: makes a CURVE key pair for each daemon; executed by `cloister keys`.
 *
 * A separate program because it needs ZeroMQ, which takes longer to load than everything else that
 * `cloister serve` does before it executes the gateway. Trusts the user who runs it; overwrites
 * nothing.
 */
#include "common/bus/bus.h"

#include <stdio.h>

int
main(int argc, char **argv)
{
	struct err e;

	if (argc != 2 || argv[1][0] == '-') {
		fputs("usage: cloister keys DIRECTORY\n", stderr);
		return 2;
	}
	if (bus_keys_make(argv[1], &e) < 0) {
		fprintf(stderr, "cloister: keys: %s\n", e.text);
		return 1;
	}
	printf("each daemon needs its own .key and the .pub of each peer, from %s\n", argv[1]);
	return 0;
}
