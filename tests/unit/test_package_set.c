/* SPDX-License-Identifier: Apache-2.0 */
/* test_package_set.c - the packages of a session: places, replacement, the limit, mounts. */
#include "package_setup.h"

#include <stdio.h>

static void
add(struct package_set *set, struct package *package)
{
	struct err e;

	if (package_set_add(set, package, &e) < 0)
		fail_msg("%s", e.text);
}

/* Fills it with packages of these names; their digests differ in the last two digits. */
static void
fill(struct package_set *set, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char name[16];
		struct package *package;

		snprintf(name, sizeof name, "p%u", i);
		package = package_of('0', name, 1);
		snprintf(package->sha256 + 60, 5, "%04x", i);
		add(set, package);
	}
}

static void
it_has_what_was_added(void **state)
{
	struct package_set *set = package_set_new(NULL);

	(void)state;
	assert_int_equal(package_set_mounts(set)->count, 0);
	add(set, package_of('a', "a", 1));
	add(set, package_of('b', "b", 1));
	assert_string_equal(set->packages[0]->name, "a");
	assert_string_equal(set->packages[1]->name, "b");
	assert_null(set->packages[2]);
	package_set_put(set);
	package_set_put(NULL);
	options.packages_mb = 0;
	package_put(package_of('c', "c", 1));
	assert_int_equal(fake.workspaces, 0);
}

static void
one_of_the_same_name_is_replaced(void **state)
{
	struct package_set *before = package_set_new(NULL), *set;
	struct package *old = package_of('a', "a", 1), *new = package_of('c', "a", 1);

	(void)state;
	add(before, old);
	add(before, package_of('b', "b", 1));
	set = package_set_new(before);
	add(set, new);
	/* At another place, because programs may use the old one until all is mounted. */
	assert_null(set->packages[0]);
	assert_string_equal(set->packages[1]->name, "b");
	assert_ptr_equal(set->packages[2], new);
	assert_ptr_equal(before->packages[0], old);
	package_set_put(before);
	options.packages_mb = 0;
	package_put(package_of('d', "d", 1));
	assert_int_equal(fake.workspaces, 2); /* the old one is used no more */
	package_set_put(set);
	assert_int_equal(fake.workspaces, 0);
}

static void
the_same_one_keeps_its_place(void **state)
{
	struct package_set *set = package_set_new(NULL);
	struct package *a = package_of('a', "a", 1);

	(void)state;
	add(set, a);
	add(set, package_of('b', "b", 1));
	add(set, find('a'));
	assert_ptr_equal(set->packages[0], a);
	assert_null(set->packages[2]);
	package_set_put(set);
	options.packages_mb = 0;
	package_put(package_of('c', "c", 1));
	assert_int_equal(fake.workspaces, 0); /* each use was given back */
}

static void
it_has_a_limit(void **state)
{
	struct package_set *set = package_set_new(NULL);
	struct package *more = package_of('a', "p7", 1);
	struct err e;

	(void)state;
	fill(set, ORDER_MAX_PACKAGES);
	assert_int_equal(package_set_mounts(set)->count, ORDER_MAX_PACKAGES);
	assert_int_equal(package_set_add(set, package_of('b', "other", 1), &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	add(set, more); /* replaces one */
	assert_ptr_equal(set->packages[7], more);
	options.packages_mb = 0;
	package_put(package_of('c', "c", 1));
	assert_int_equal(fake.workspaces, ORDER_MAX_PACKAGES); /* of the refused one none is left */
	package_set_put(set);
}

static void
mounts_are_its_packages_then_the_view(void **state)
{
	struct package_set *set = package_set_new(NULL);
	const struct box_mounts *mounts;
	struct package *b = package_of('b', "b", 1);

	(void)state;
	add(set, package_of('a', "a", 1));
	add(set, b);
	add(set, package_of('c', "a", 1));
	set->view = new_workspace();
	mounts = package_set_mounts(set);
	assert_int_equal(mounts->count, 3);
	assert_int_equal(mounts->items[0].place, 1);
	assert_ptr_equal(mounts->items[0].workspace, b->workspace);
	assert_int_equal(mounts->items[1].place, 2);
	assert_int_equal(mounts->items[2].place, ORDER_USR_LOCAL);
	assert_ptr_equal(mounts->items[2].workspace, set->view);
	package_set_put(package_set_get(set));
	assert_int_equal(package_set_mounts(set)->count, 3);
	package_set_put(set);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_packages, end_packages)
	const struct CMUnitTest tests[] = {
		CASE(it_has_what_was_added),
		CASE(one_of_the_same_name_is_replaced),
		CASE(the_same_one_keeps_its_place),
		CASE(it_has_a_limit),
		CASE(mounts_are_its_packages_then_the_view),
	};

	return cmocka_run_group_tests_name("package_set", tests, NULL, NULL);
}
