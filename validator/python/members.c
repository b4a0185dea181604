/* SPDX-License-Identifier: Apache-2.0 */
/* members.c - looks names up in the table that members.py made. */
#include "validator/python/members.h"

#include "common/base/auto.h"
#include "common/base/similar.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS_OF(name)
#define PUBLIC(name)

/* clang-format off */
static const char *const modules[] = {
#undef MEMBERS_OF
#define MEMBERS_OF(name) name,
#include "members_made.def"
};

static const char *const public_names[] = {
#undef MEMBERS_OF
#define MEMBERS_OF(name)
#undef PUBLIC
#define PUBLIC(name) name,
#include "members_made.def"
};
/* clang-format on */

static int
compare(const void *name, const void *row)
{
	return strcmp(name, *(const char *const *)row);
}

bool
members_module(const char *dotted)
{
	return bsearch(dotted, modules, COUNT(modules), sizeof *modules, compare) != NULL;
}

bool
members_public(const char *dotted)
{
	return bsearch(dotted, public_names, COUNT(public_names), sizeof *public_names, compare) !=
	       NULL;
}

const char *
members_near(const char *dotted)
{
	const char *name = strrchr(dotted, '.') + 1;
	size_t module = (size_t)(name - dotted);
	struct similar similar = similar_to(name);

	for (size_t n = 0; n < COUNT(public_names); n++)
		if (strncmp(public_names[n], dotted, module) == 0 &&
		    strchr(public_names[n] + module, '.') == NULL)
			similar_consider(&similar, public_names[n] + module);
	return similar.best;
}
