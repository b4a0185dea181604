/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - owners as values; trusts no length. */
#include "common/base/owner.h"

#include <string.h>

bool
owner_set(struct owner *owner, const char *principal, const char *namespace)
{
	size_t first = principal == NULL ? 0 : strlen(principal);
	size_t second = namespace == NULL ? 0 : strlen(namespace);

	if (first >= OWNER_PRINCIPAL || second >= OWNER_NAMESPACE)
		return false;
	*owner = (struct owner){ 0 };
	if (first > 0)
		memcpy(owner->principal, principal, first);
	if (second > 0)
		memcpy(owner->namespace, namespace, second);
	return true;
}

bool
owner_equal(const struct owner *a, const struct owner *b)
{
	return strcmp(a->principal, b->principal) == 0 && strcmp(a->namespace, b->namespace) == 0;
}

size_t
owner_key(const struct owner *owner, char key[OWNER_KEY])
{
	char *end = stpcpy(stpcpy(key, owner->principal) + 1, owner->namespace) + 1;

	return (size_t)(end - key);
}

bool
namespace_equal(const char *a, const char *b)
{
	static const char fallback[] = "default";

	return strcmp(a == NULL || *a == '\0' ? fallback : a,
		   b == NULL || *b == '\0' ? fallback : b) == 0;
}
