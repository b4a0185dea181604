/* SPDX-License-Identifier: Apache-2.0 */
/* name.c - checks keys of secrets; trusts the bus for the owner, and nothing else. */
#include "executor/vault/name.h"

#include "executor/vault/options.h"

#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

enum { MAX_TEXT = 64 };

int
name_check_namespace(const char *namespace, struct err *e)
{
	size_t size = strlen(namespace);

	if (size > 0 && size <= MAX_TEXT && strchr("._-", namespace[0]) == NULL &&
	    strspn(namespace, LETTERS DIGITS "._-") == size)
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "namespace: 1 to %d letters, digits and . _ - are allowed, beginning with a letter or "
	    "digit",
	    MAX_TEXT);
}

int
name_read(struct name *to, const struct owner *owner, const char *namespace, const char *name,
    struct err *e)
{
	size_t size = strlen(name);

	*to = (struct name){ owner, namespace != NULL ? namespace : "default", name };
	if (owner->principal[0] == '\0')
		return err_set(e, ERR_unauthenticated, "only an authenticated caller has secrets");
	if (size == 0 || size > MAX_TEXT || strspn(name, LETTERS DIGITS "_") != size ||
	    strspn(name, DIGITS) > 0)
		return err_set(e, ERR_invalid_argument,
		    "name: 1 to %d letters, digits and _ are allowed, not beginning with a digit",
		    MAX_TEXT);
	return name_check_namespace(to->namespace, e);
}

int
name_check_value(const struct name *name, size_t size, struct err *e)
{
	if (size < NAME_MIN_VALUE)
		return err_set(e, ERR_invalid_argument,
		    "%s: the value has %zu bytes; at least %d are needed, because a shorter one "
		    "cannot be redacted",
		    name->name, size, NAME_MIN_VALUE);
	if (size > NAME_MAX_VALUE)
		return err_set(e, ERR_limit_exceeded, "%s: the value is over the limit of %d bytes",
		    name->name, NAME_MAX_VALUE);
	return 0;
}

bool
name_is_operator(const char *principal)
{
	for (const char *at = options.operators; *at != '\0';) {
		size_t size = strcspn(at, ",");
		bool rest = size > 0 && at[size - 1] == '*';
		size_t same = rest ? size - 1 : size;

		if (strncmp(principal, at, same) == 0 && (rest || principal[same] == '\0'))
			return size > 0;
		at += size + strspn(at + size, ",");
	}
	return false;
}
