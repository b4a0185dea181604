/* SPDX-License-Identifier: Apache-2.0 */
/* test_instance.c - the host name as the name of an instance. */
#include "common/daemon/instance.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void
keeps_short_names(void **state)
{
	static const struct {
		const char *host, *name;
	} cases[] = {
		{ "cloister-executor-0", "cloister-executor-0" },
		{ "executor-6769bc689c-jkzv2x", "executor-6769bc689c-jkzv2x" },
		/* printf %s cloister-executor-6769bc689c-jkzv2 | sha256sum */
		{ "cloister-executor-6769bc689c-jkzv2", "ef565bd82c67" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		auto_free char *name = instance_of(cases[i].host);

		assert_string_equal(name, cases[i].name);
	}
}

static void
replaces_only_the_specifier(void **state)
{
	char host[256] = "";
	char *name = strdup("%H"), *other = strdup("1");
	struct err e;

	(void)state;
	assert_int_equal(gethostname(host, sizeof host - 1), 0);
	assert_int_equal(instance_settle(&name, &e), 0);
	auto_free char *expected = instance_of(host);
	assert_string_equal(name, expected);
	assert_int_equal(instance_settle(&other, &e), 0);
	assert_string_equal(other, "1");
	free(name);
	free(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_short_names),
		cmocka_unit_test(replaces_only_the_specifier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
