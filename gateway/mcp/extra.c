/* SPDX-License-Identifier: Apache-2.0 */
/* extra.c - what a gateway offers in addition to schema.def. */
#include "gateway/mcp/extra.h"

static const struct extra none, *extra = &none;

void
extra_set(const struct extra *more)
{
	extra = more;
}

const struct extra *
extra_get(void)
{
	return extra;
}
