/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_netrc.c - any text as a netrc file. What is accepted has names of hosts, each once, and a
 * whole header's value for each.
 */
#include "common/base/auto.h"
#include "executor/secretd/credentials.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct credentials all;
	struct err e;

	if (credentials_read((const char *)data, size, &all, &e) < 0) {
		must(all.count == 0 && e.text[0] != '\0');
		return 0;
	}
	for (size_t i = 0; i < all.count; i++) {
		struct credential *one = all.all[i];

		must(domain_is_name(one->name) && credentials_find(&all, one->name) == one);
		const char *value = strchr(one->value, ' ') + 1;

		must(strncmp(one->value, "Basic ", 6) == 0 ||
		     (strncmp(one->value, "Bearer ", 7) == 0 && strcmp(value, one->password) == 0));
		must(strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789-._~+/=") == strlen(value));
		must(strlen(one->password) >= CREDENTIALS_SHORTEST);
	}
	credentials_clear(&all);
	return 0;
}
