/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - what both kinds of file agree on. */
#include "gateway/cli/config/merge.h"

#include "common/auto.h"

#include <string.h>

bool
merge_owns(const char *key, size_t size)
{
	static const char *const keys[] = { "type", "command", "args", "url", "headers",
		"bearer_token_env_var" };

	for (size_t i = 0; i < COUNT(keys); i++)
		if (strlen(keys[i]) == size && memcmp(keys[i], key, size) == 0)
			return true;
	return false;
}
