/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile.c - the modules and powers of a profile, alone and joined with others. */
#include "common/base/auto.h"
#include "common/profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct profile_set
set_of(const char *names)
{
	struct profile_set set;
	struct err e;

	assert_int_equal(profile_read(names, &set, &e), 0);
	return set;
}

static void
reads_names(void **state)
{
	static const struct {
		const char *names, *title; /* NULL: refused */
	} cases[] = {
		{ "open", "open" },
		{ "strict", "strict" },
		{ "basic,filesystem", "basic, filesystem" },
		{ " basic , strict ", "basic, strict" },
		{ "basic,basic", "basic" },
		{ "strict,basic,data_science,network,filesystem",
		    "strict, basic, data_science, network, filesystem" },
		{ "basic,open", NULL },
		{ "open,open", "open" },
		{ "Strict", NULL },
		{ "strict,", NULL },
		{ ",strict", NULL },
		{ "", NULL },
		{ "basic strict", NULL },
		{ "basicx", NULL },
		{ "basi", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct profile_set set;
		struct err e = { 0 };
		int status = profile_read(cases[i].names, &set, &e);

		if (cases[i].title != NULL) {
			assert_int_equal(status, 0);
			assert_string_equal(set.title, cases[i].title);
		} else {
			assert_int_equal(status, -1);
			assert_int_equal(e.code, ERR_invalid_argument);
			assert_non_null(strstr(e.text, "profile: "));
		}
	}
}

static void
allows_modules(void **state)
{
	static const struct {
		const char *names, *module;
		bool allowed, leads;
	} cases[] = {
		{ "strict", "math", true, true },
		{ "strict", "os", false, false },
		{ "basic", "os", false, false },
		{ "basic", "os.path", false, false },
		{ "basic", "urllib.parse", true, true },
		{ "basic", "urllib", false, true },
		{ "basic", "urllib.request", false, false },
		{ "basic", "collections.abc", true, false },
		{ "basic", "collectionsx", false, false },
		{ "basic", "numpy", false, false },
		{ "data_science", "numpy.linalg", true, false },
		{ "data_science", "math", true, true },
		{ "data_science", "requests", false, false },
		{ "network", "urllib.request", true, false },
		{ "network", "numpy", false, false },
		{ "filesystem", "os.path", true, true },
		{ "filesystem", "os", false, true },
		{ "strict,data_science", "pandas", true, true },
		{ "data_science,network", "requests", true, true },
		{ "data_science,network", "pathlib", false, false },
		{ "open", "ctypes", true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct profile_set set = set_of(cases[i].names);

		assert_int_equal(profile_module(&set, NULL, cases[i].module), cases[i].allowed);
		assert_int_equal(profile_leads(&set, NULL, cases[i].module), cases[i].leads);
	}
}

static void
joins_powers(void **state)
{
	static const struct {
		const char *names;
		bool files, reflect, evaluate;
	} cases[] = {
		{ "strict", true, false, false },
		{ "basic", false, true, false },
		{ "filesystem", true, true, false },
		{ "basic,filesystem", true, true, false },
		{ "data_science,network", false, true, false },
		/* strict keeps its rules, whatever it is joined to and in which order */
		{ "strict,basic", true, false, false },
		{ "filesystem,strict", true, false, false },
		{ "open", true, true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct profile_set set = set_of(cases[i].names);

		assert_int_equal(profile_has(&set, POWER_files), cases[i].files);
		assert_int_equal(profile_has(&set, POWER_reflect), cases[i].reflect);
		assert_int_equal(profile_has(&set, POWER_evaluate), cases[i].evaluate);
		assert_int_equal(profile_is_open(&set), cases[i].evaluate);
	}
}

static void
suggests_the_first(void **state)
{
	(void)state;
	assert_string_equal(profile_suggest("math"), "strict");
	assert_string_equal(profile_suggest("pandas.io"), "data_science");
	assert_string_equal(profile_suggest("urllib.request"), "network");
	assert_string_equal(profile_suggest("os.path"), "filesystem");
	assert_null(profile_suggest("os"));
}

/* names: separated by blanks; NULL: not narrowed. */
static void
check_names(const char *profile, char **only, size_t count, const char *wanted)
{
	const struct texts texts = { only, count };
	struct profile_set set = set_of(profile);
	struct texts names = { 0 };
	struct err e;
	char got[256] = "";

	assert_int_equal(profile_modules(&set, &texts, &names, &e), 0);
	for (size_t i = 0; i < names.count; i++) {
		size_t used = strlen(got);

		snprintf(got + used, sizeof got - used, "%s ", names.items[i]);
		assert_true(profile_module(&set, &texts, names.items[i]));
	}
	assert_string_equal(got, wanted);
	texts_clear(&names);
}

static void
narrows(void **state)
{
	char json[] = "json", os[] = "os", request[] = "urllib.request", urllib[] = "urllib",
	     numpy[] = "numpy.linalg";
	struct profile_set basic = set_of("basic");
	struct texts all = { 0 };
	struct err e;

	(void)state;
	check_names("basic", (char *[]){ json, os }, 2, "json json ");
	check_names("basic", (char *[]){ request }, 1, "");
	check_names("basic", (char *[]){ urllib }, 1, "urllib.parse ");
	check_names("data_science", (char *[]){ numpy }, 1, "numpy.linalg ");
	check_names("open", (char *[]){ os, json }, 2, "os json ");
	check_names("basic", (char *[]){ NULL }, 0, "");
	assert_int_equal(profile_modules(&basic, NULL, &all, &e), 0);
	assert_true(all.count > 40); /* "40+ safe stdlib modules" */
	texts_clear(&all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_names),
		cmocka_unit_test(allows_modules),
		cmocka_unit_test(joins_powers),
		cmocka_unit_test(suggests_the_first),
		cmocka_unit_test(narrows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
