/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_hello.c - the first bytes of a program's connection, as TLS and as HTTP.
 *
 * A name that is found is one of a host; a prefix of what has no name has none, or more is needed.
 */
#include "common/base/auto.h"
#include "executor/egress/client_hello.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(enum hello_name found, char *name)
{
	must(found == HELLO_MORE || found == HELLO_NAMED || found == HELLO_NONE);
	if (found == HELLO_NAMED)
		must(strlen(name) < DOMAIN_NAME && domain_is_name(name));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[DOMAIN_NAME], half[DOMAIN_NAME];

	if (size > HELLO_BYTES)
		return 0;

	enum hello_name found = client_hello_of_http((const char *)data, size, name);

	check(found, name);
	check(client_hello_of_http((const char *)data, size / 2, half), half);
	found = client_hello_of_tls(data, size, name);
	check(found, name);
	/* What was named by a part keeps its name when more arrives. */
	if (client_hello_of_tls(data, size / 2, half) == HELLO_NAMED)
		must(found == HELLO_NAMED && strcmp(name, half) == 0);
	return 0;
}
