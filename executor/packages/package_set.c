/* SPDX-License-Identifier: Apache-2.0 */
/* package_set.c - a package keeps its place for as long as it is in a session, so that an
 * installation mounts only what is new. */
#include "executor/packages/package_set.h"

#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"

#include <string.h>

static int
copy(struct package_set *set, const struct package_set *from)
{
	for (size_t i = 0; i < COUNT(set->packages); i++)
		if (from->packages[i] != NULL)
			set->packages[i] = package_get(from->packages[i]);
	if (from->modules != NULL)
		set->modules = package_get(from->modules);
	for (size_t i = 0; i < from->specs.count; i++)
		if (texts_add(&set->specs, from->specs.items[i]) < 0)
			return -1;
	return 0;
}

struct package_set *
package_set_new(const struct package_set *from)
{
	struct package_set *set = calloc(1, sizeof *set);

	if (set == NULL)
		return NULL;
	set->refs = 1;
	if (from != NULL && copy(set, from) < 0)
		package_set_put(take_ptr(set));
	return set;
}

struct package_set *
package_set_get(struct package_set *set)
{
	set->refs++;
	return set;
}

void
package_set_put(struct package_set *set)
{
	if (set == NULL || --set->refs > 0)
		return;
	for (size_t i = 0; i < COUNT(set->packages); i++)
		package_put(set->packages[i]);
	package_put(set->modules);
	texts_clear(&set->specs);
	workspace_drop(set->view);
	free(set);
}

struct package *
package_set_find(const struct package_set *set, const char *name)
{
	for (size_t i = 0; i < COUNT(set->packages); i++)
		if (set->packages[i] != NULL && strcmp(set->packages[i]->name, name) == 0)
			return set->packages[i];
	return NULL;
}

int
package_set_add(struct package_set *set, struct package *package, struct err *e)
{
	size_t place = COUNT(set->packages);

	for (size_t i = COUNT(set->packages); i-- > 0;)
		if (set->packages[i] == NULL)
			place = i;
	for (size_t i = 0; i < COUNT(set->packages); i++) {
		struct package *old = set->packages[i];

		if (old == NULL || strcmp(old->name, package->name) != 0)
			continue;
		set->packages[i] = NULL;
		if (old == package || place == COUNT(set->packages))
			place = i;
		package_put(old);
	}
	if (place == COUNT(set->packages)) {
		package_put(package);
		return err_set(e, ERR_limit_exceeded,
		    "packages: a session has at most %d, with those that others need",
		    ORDER_MAX_PACKAGES);
	}
	set->packages[place] = package;
	return 0;
}

const struct box_mounts *
package_set_mounts(struct package_set *set)
{
	size_t n = 0;

	for (unsigned i = 0; i < COUNT(set->packages); i++)
		if (set->packages[i] != NULL)
			set->mounts[n++] = (struct box_mount){ set->packages[i]->workspace, i };
	if (set->modules != NULL)
		set->mounts[n++] =
		    (struct box_mount){ set->modules->workspace, ORDER_NODE_MODULES };
	if (set->view != NULL)
		set->mounts[n++] = (struct box_mount){ set->view, ORDER_USR_LOCAL };
	set->all = (struct box_mounts){ set->mounts, n };
	return &set->all;
}
