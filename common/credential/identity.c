/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - identities as values. */
#include "common/credential/identity.h"

#include "common/credential/scope.h"

#include <stdio.h>
#include <string.h>

void
identity_local(struct identity *who, unsigned uid)
{
	*who = (struct identity){ .source = IDENTITY_LOCAL, .scopes = SCOPES_LOCAL };
	snprintf(who->principal, sizeof who->principal, "local:%u", uid);
}

bool
identity_same(const struct identity *a, const struct identity *b)
{
	return strcmp(a->principal, b->principal) == 0 && strcmp(a->namespace, b->namespace) == 0;
}
