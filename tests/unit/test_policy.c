/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy.c - the profile of a run: who chose it, what the operator permits, and what a
 * driver receives. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/check/policy.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
defaults(void **state)
{
	struct err e;

	(void)state;
	return fake_options(&e);
}

/* Also a language that has no checker. */
static int
with_perl(void **state)
{
	struct err e;

	(void)state;
	setenv("CLOISTER_EXECUTOR_RUNTIMES", "perl .pl /usr/bin/perl", 1);

	int status = fake_options(&e);

	unsetenv("CLOISTER_EXECUTOR_RUNTIMES");
	if (status < 0)
		print_error("%s\n", e.text);
	return status;
}

static void
takes_the_nearest(void **state)
{
	char strict[] = "strict";
	struct execute_code ask = { .profile = strict };
	struct policy policy = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(policy_read(&policy, &ask, language_python, "basic", &e), 0);
	assert_string_equal(policy.profile, "strict");
	policy_clear(&policy);
	ask.profile = NULL;
	assert_int_equal(policy_read(&policy, &ask, language_python, "basic", &e), 0);
	assert_string_equal(policy.profile, "basic");
	policy_clear(&policy);
	assert_int_equal(policy_read(&policy, &ask, language_python, NULL, &e), 0);
	assert_string_equal(policy.profile, "open");
	assert_false(policy_restricts(&policy));
	policy_clear(&policy);
}

static void
keeps_to_the_operators(void **state)
{
	static const struct {
		const char *names, *text;
	} cases[] = {
		{ "network", "profile: network is not enabled on this server; use strict, basic, "
			     "data_science, or have the operator set enable_network" },
		{ "basic, filesystem", "profile: filesystem is not enabled" },
		{ "open", "profile: open is not enabled" },
		{ "data_science,strict", NULL },
	};
	struct err e;

	(void)state;
	options.enable_network = options.enable_filesystem = options.enable_open = false;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int status = policy_check_profile(cases[i].names, language_python, &e);

		assert_int_equal(status, cases[i].text == NULL ? 0 : -1);
		if (cases[i].text == NULL)
			continue;
		assert_int_equal(e.code, ERR_denied);
		assert_non_null(strstr(e.text, cases[i].text));
	}
	assert_false(policy_is_enabled(PROFILE_open));
	assert_true(policy_is_enabled(PROFILE_strict));
}

static void
refuse(struct execute_code *ask, unsigned language, enum err_code code, const char *text)
{
	struct policy policy = { 0 };
	struct err e = { 0 };

	assert_int_equal(policy_read(&policy, ask, language, NULL, &e), -1);
	assert_int_equal(e.code, code);
	assert_non_null(strstr(e.text, text));
	policy_clear(&policy);
}

/* What has no checker does not run under rules. */
static void
refuses_other_languages(void **state)
{
	char basic[] = "basic", math[] = "math", *imports[] = { math };
	const unsigned perl = language_COUNT;
	struct execute_code node = { 0 };
	struct policy policy = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(policy_read(&policy, &node, language_node, NULL, &e), 0);
	policy_clear(&policy);
	node.profile = basic;
	refuse(&node, perl, ERR_invalid_argument, "basic does not apply to perl; run it with");
	options.enable_open = false;
	refuse(&node, perl, ERR_denied, "and this server does not enable profile open");
	options.enable_open = true;
	node.profile = NULL;
	node.allowed_imports = (struct texts){ imports, 1 };
	refuse(&node, perl, ERR_invalid_argument, "allowed_imports");
	node.allowed_imports = (struct texts){ 0 };
	assert_int_equal(texts_add(&options_imports, "math"), 0);
	refuse(&node, language_node, ERR_denied, "use python");
	refuse(&node, language_shell, ERR_denied, "shell");
}

static void
holds_imports_to_the_operators(void **state)
{
	struct execute_code ask = { 0 };
	struct policy policy = { 0 };
	struct err e;

	(void)state;
	/* An empty list is one. */
	ask.allowed_imports.items = calloc(1, sizeof(char *));
	assert_int_equal(policy_read(&policy, &ask, language_python, NULL, &e), 0);
	assert_true(policy_restricts(&policy));
	policy_clear(&policy);
	assert_int_equal(texts_add(&options_imports, "os"), 0);
	assert_int_equal(policy_read(&policy, &ask, language_python, "strict", &e), 0);
	assert_string_equal(policy.profile, "strict");
	assert_string_equal(policy.imports.items[0], "os");
	policy_clear(&policy);
	assert_int_equal(texts_add(&ask.allowed_imports, "os.path"), 0);
	assert_int_equal(policy_read(&policy, &ask, language_python, NULL, &e), 0);
	policy_clear(&policy);
	assert_int_equal(texts_add(&ask.allowed_imports, "oserror"), 0);
	refuse(&ask, language_python, ERR_denied,
	    "allowed_imports[0]: this server does not allow the module oserror");
	texts_clear(&ask.allowed_imports);
}

/* names NULL: there is nothing to guard. */
static void
check_guard(const char *profile, const char *imports, const char *begins, const char *holds)
{
	struct execute_code ask = { .profile = strdup(profile) };
	struct policy policy = { 0 };
	struct blob guard;
	struct err e;
	char text[4096] = "";

	if (imports != NULL)
		assert_int_equal(texts_add(&ask.allowed_imports, imports), 0);
	assert_int_equal(policy_read(&policy, &ask, language_python, NULL, &e), 0);
	assert_int_equal(policy_guard(&policy, &guard, &e), 0);
	assert_int_equal(guard.data == NULL, begins == NULL);
	if (guard.data != NULL && begins != NULL) {
		assert_true(guard.size < sizeof text);
		memcpy(text, guard.data, guard.size);
		assert_int_equal(text[guard.size - 1], '\n');
		assert_memory_equal(text, begins, strlen(begins));
		assert_non_null(strstr(text, holds));
	}
	blob_clear(&guard);
	policy_clear(&policy);
	free(ask.profile);
}

static void
tells_drivers(void **state)
{
	(void)state;
	check_guard("open", NULL, NULL, NULL);
	check_guard("basic", NULL, "profile basic\n__future__\n", "\nurllib.parse\n");
	check_guard("basic,network", NULL, "profile basic, network\n", "\nrequests\n");
	check_guard("basic", NULL, "profile basic\n", "\n-operator.attrgetter\n");
	check_guard("strict", NULL, "profile strict\n", "\n-operator.attrgetter\n");
	check_guard("open", "os", "allowed_imports\nos\n", "");
	check_guard("basic", "json", "profile basic with allowed_imports\njson\n", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_the_nearest, defaults),
		cmocka_unit_test_setup(keeps_to_the_operators, defaults),
		cmocka_unit_test_setup(refuses_other_languages, with_perl),
		cmocka_unit_test_setup(holds_imports_to_the_operators, defaults),
		cmocka_unit_test_setup(tells_drivers, defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
