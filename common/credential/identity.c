/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - identities as values. */
#include "common/credential/identity.h"

#include "common/credential/scope.h"

#include <stdio.h>

void
identity_local(struct identity *who, unsigned uid)
{
	*who = (struct identity){ .source = IDENTITY_LOCAL, .scopes = SCOPES_LOCAL };
	snprintf(who->owner.principal, sizeof who->owner.principal, "local:%u", uid);
}
