/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_limits.c - default limits set by owners, kept while this process runs.
 *
 * The table is bounded: the least recently used entry is replaced.
 */
#include "executor/run/own_limits.h"

#include "executor/run/rights_limits.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	MAX_PRINCIPALS = 1024,
};

/* The most recently used entry is first. */
static struct own {
	struct own *next;
	struct owner owner;
	struct limits limits;
} * all;

static struct own *
find(const struct owner *owner)
{
	for (struct own **at = &all, *own; (own = *at) != NULL; at = &own->next) {
		if (!owner_equal(&own->owner, owner))
			continue;
		*at = own->next;
		own->next = all;
		return all = own;
	}
	return NULL;
}

static void
drop_from(struct own **at)
{
	while (*at != NULL) {
		struct own *own = *at;

		*at = own->next;
		free(own);
	}
}

int
own_limits_keep(const struct owner *owner, const struct limits *limits, struct err *e)
{
	struct own *own = find(owner), **at = &all;

	if (own == NULL && (own = calloc(1, sizeof *own)) != NULL) {
		own->owner = *owner;
		own->next = all;
		all = own;
	}
	if (own == NULL)
		return err_sys(e, "limits");
	own->limits = *limits;
	for (size_t n = 0; *at != NULL && n < MAX_PRINCIPALS; n++)
		at = &(*at)->next;
	drop_from(at);
	return 0;
}

const struct limits *
own_limits_of(const struct owner *owner)
{
	const struct rights *rights = rights_of(owner);
	const struct own *own = find(owner);
	const struct limits *limits = own != NULL ? &own->limits : &limits_default;
	static struct limits reduced;
	struct err none;

	if (rights == NULL)
		return limits;
	reduced = *limits;
	must(rights_limits(&reduced, limits, true, rights, &none) == 0);
	return &reduced;
}

void
own_limits_forget(void)
{
	drop_from(&all);
}
