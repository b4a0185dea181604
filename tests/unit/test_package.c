/* SPDX-License-Identifier: Apache-2.0 */
/* test_package.c - names of wheels, and which unpacked packages are kept. */
#include "package_setup.h"

static void
names_have_one_form(void **state)
{
	static const char *const pairs[][2] = {
		{ "base", "base" },
		{ "Hello.World", "hello-world" },
		{ "A__b-.-c", "a-b-c" },
		{ "a", "a" },
		{ "_a", "a" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		auto_free char *normal = package_normal(pairs[i][0], strlen(pairs[i][0]));

		assert_string_equal(normal, pairs[i][1]);
	}

	auto_free char *part = package_normal("Base>=2", 4);

	assert_string_equal(part, "base");
}

static void
a_wheel_says_name_and_version(void **state)
{
	static const char *const files[][3] = {
		{ "Hello.World-1.5-py3-none-any.whl", "hello-world", "1.5" },
		{ "a_b-1!2.0rc1+local.1-1-cp311-cp311-manylinux_2_17_x86_64.whl", "a-b",
		    "1!2.0rc1+local.1" },
		{ "old-1.0_2-py3-none-any.whl", "old", "1.0-2" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		auto_free char *name = NULL;
		auto_free char *version = NULL;

		assert_int_equal(package_name(files[i][0], &name, &version, &e), 0);
		assert_string_equal(name, files[i][1]);
		assert_string_equal(version, files[i][2]);
	}
}

static void
other_files_are_no_wheels(void **state)
{
	static const char *const files[] = { "", ".whl", "a.whl", "a-1.0.tar.gz", "a-1.0.whl.",
		"-1.0-py3-none-any.whl", "_-1.0-py3-none-any.whl", "._-1.0-py3-none-any.whl",
		"a--py3-none-any.whl", "a-.whl", "a-1.0.whl", "a-1.0/../-py3-none-any.whl",
		"a b-1.0-py3-none-any.whl", "a-1.0\n-py3-none-any.whl", "a-1;0-py3-none-any.whl",
		"a-1.0-\xc3\xa4-none-any.whl", "a-1.0-py3-none-any.WHL" };

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char *name = (char *)1, *version = (char *)1;
		struct err e;

		if (package_name(files[i], &name, &version, &e) == 0)
			fail_msg("%s", files[i]);
		assert_int_equal(e.code, ERR_install_failed);
		assert_null(name);
		assert_null(version);
	}
}

static void
it_is_found_by_its_digest(void **state)
{
	struct package *package = package_of('a', "a", 1);

	(void)state;
	char sha256[HASH_HEX];

	digest_of('a', sha256);
	assert_null(find('b'));
	assert_null(package_find(sha256, 11));
	assert_ptr_equal(find('a'), package);
	package_put(package);
	package_put(package);
	assert_ptr_equal(find('a'), package);
	package_put(package);
	package_put(NULL);
}

static void
the_least_recently_used_goes_first(void **state)
{
	(void)state;
	options.packages_mb = 3;
	for (char digest = 'a'; digest <= 'c'; digest++)
		package_put(package_of(digest, "x", 1));
	assert_int_equal(fake.workspaces, 3);
	package_put(find('a'));
	package_put(package_of('d', "x", 1));
	assert_int_equal(fake.workspaces, 3);
	assert_null(find('b'));
	package_put(package_of('e', "x", 2));
	assert_int_equal(fake.workspaces, 2);
	assert_null(find('c'));
	assert_null(find('a'));
	package_put(find('d'));
	package_put(package_of('f', "x", 4));
	assert_int_equal(fake.workspaces, 0);
}

static void
one_in_use_stays(void **state)
{
	struct package *used = package_of('a', "x", 2);

	(void)state;
	options.packages_mb = 1;
	package_put(package_of('b', "x", 1));
	assert_int_equal(fake.workspaces, 1);
	assert_ptr_equal(find('a'), used);
	package_put(used);
	assert_int_equal(fake.workspaces, 1);
	package_put(used);
	assert_int_equal(fake.workspaces, 0);
	assert_null(find('a'));
}

static void
none_is_kept_without_room(void **state)
{
	(void)state;
	options.packages_mb = 0;
	package_put(package_of('a', "x", 1));
	assert_null(find('a'));
	assert_int_equal(fake.workspaces, 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_packages, end_packages)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_one_form),
		cmocka_unit_test(a_wheel_says_name_and_version),
		cmocka_unit_test(other_files_are_no_wheels),
		CASE(it_is_found_by_its_digest),
		CASE(the_least_recently_used_goes_first),
		CASE(one_in_use_stays),
		CASE(none_is_kept_without_room),
	};

	return cmocka_run_group_tests_name("package", tests, NULL, NULL);
}
