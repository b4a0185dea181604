/* SPDX-License-Identifier: Apache-2.0 */
/* test_owner.c - an owner is a principal and a namespace together. */
#include "common/owner.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define OWNER(p, n) \
	{ \
		(char *)(uintptr_t)(p), (char *)(uintptr_t)(n) \
	}

static void
both_must_be_equal(void **state)
{
	static const struct owner ann = OWNER("ann", "build");
	static const struct {
		struct owner other;
		bool equal;
	} cases[] = {
		{ OWNER("ann", "build"), true },
		{ OWNER("ann", ""), false },
		{ OWNER("ann", "Build"), false },
		{ OWNER("bob", "build"), false },
		{ OWNER("annbuild", ""), false },
		{ OWNER("", "build"), false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(owner_equal(&ann, &cases[i].other), cases[i].equal);
}

static void
a_copy_is_its_own(void **state)
{
	char principal[] = "ann", namespace[] = "";
	struct owner copy = owner_copy(&(struct owner){ principal, namespace });

	(void)state;
	principal[0] = 'x';
	assert_string_equal(copy.principal, "ann");
	assert_string_equal(copy.namespace, "");
	owner_clear(&copy);
	assert_null(copy.principal);
	assert_null(copy.namespace);
	owner_clear(&copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_must_be_equal),
		cmocka_unit_test(a_copy_is_its_own),
	};

	return cmocka_run_group_tests_name("owner", tests, NULL, NULL);
}
