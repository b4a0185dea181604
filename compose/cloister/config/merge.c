/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - what both kinds of file agree on. */
#include "compose/cloister/config/merge.h"

#include "common/base/auto.h"

#include <stdlib.h>
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

/* Every line of it, of which there is one at least? */
static bool
is_crlf(const char *text)
{
	bool some = false;

	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
		if (at == text || at[-1] != '\r')
			return false;
		some = true;
	}
	return some;
}

int
merge_lines(const struct merge *m, char **merged, struct err *e)
{
	const char *from = *merged;

	if (!is_crlf(m->text))
		return 0;

	char *text = malloc(2 * strlen(from) + 1), *to = text;

	if (text == NULL)
		return err_sys(e, "write the new text");
	for (char before = '\0'; *from != '\0'; before = *from++) {
		if (*from == '\n' && before != '\r')
			*to++ = '\r';
		*to++ = *from;
	}
	*to = '\0';
	free(*merged);
	*merged = text;
	return 0;
}
