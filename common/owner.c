/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - see owner.h; trusts its callers to have checked the bounds, as the bus does. */
#include "common/owner.h"

#include "common/base/auto.h"
#include "common/base/must.h"

#include <string.h>

bool
owner_equal(const struct owner *a, const struct owner *b)
{
	return strcmp(a->principal, b->principal) == 0 && strcmp(a->namespace, b->namespace) == 0;
}

struct owner
owner_copy(const struct owner *from)
{
	struct owner to = { strdup(from->principal), strdup(from->namespace) };

	must(to.principal != NULL && to.namespace != NULL);
	return to;
}

void
owner_clear(struct owner *owner)
{
	free(take_ptr(owner->principal));
	free(take_ptr(owner->namespace));
}
