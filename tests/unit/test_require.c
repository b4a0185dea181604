/* SPDX-License-Identifier: Apache-2.0 */
/* test_require.c - the setting require_layers against the layers that a host has. */
#include "executor/sandbox/builder_link.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char *missing[] = { (char *)"memory limit: not verified",
	(char *)"landlock scopes: Invalid argument" };

static void
refuses_what_is_missing(void **state)
{
	static const struct {
		const char *words;
		enum err_code code;
		const char *text;
	} cases[] = {
		{ "", ERR_none, "" },
		{ "pid_namespace,seccomp", ERR_none, "" },
		{ "landlock", ERR_none, "" }, /* not landlock scopes */
		{ "all", ERR_isolation_unavailable, "memory limit: not verified" },
		{ "all,-memory_limit", ERR_isolation_unavailable, "landlock scopes" },
		{ "all, -memory_limit, -landlock_scopes", ERR_none, "" },
		{ "-memory_limit,all", ERR_isolation_unavailable, "memory limit" },
		{ "seccomp,landlock_scopes", ERR_isolation_unavailable, "landlock scopes" },
		{ "memory limit", ERR_invalid_argument, "\"memory\" is not a layer" },
		{ "-none", ERR_invalid_argument, "\"none\" is not a layer" },
	};
	const struct isolation in = { .missing = { missing, COUNT(missing) } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err e = { 0 };

		assert_int_equal(
		    isolation_require(&in, cases[i].words, &e), cases[i].code == ERR_none ? 0 : -1);
		assert_int_equal(e.code, cases[i].code);
		assert_non_null(strstr(e.text, cases[i].text));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
