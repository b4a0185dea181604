/* SPDX-License-Identifier: Apache-2.0 */
/* test_vault_name.c - which names, namespaces, values and operators are accepted. */
#include "vault_setup.h"

#include "executor/vault/name.h"

#define X16 "xxxxxxxxxxxxxxxx"
#define X64 X16 X16 X16 X16

static void
names(void **unused)
{
	static const struct {
		const char *namespace, *name;
		enum err_code code; /* none: it is accepted */
	} rows[] = {
		{ NULL, "A", ERR_none },
		{ NULL, "_a9", ERR_none },
		{ "default", X64, ERR_none },
		{ X64, "A", ERR_none },
		{ "9.a_b-c", "A", ERR_none },
		{ NULL, "", ERR_invalid_argument },
		{ NULL, X64 "x", ERR_invalid_argument },
		{ NULL, "9A", ERR_invalid_argument },
		{ NULL, "A-B", ERR_invalid_argument },
		{ NULL, "A=B", ERR_invalid_argument },
		{ NULL, "A/B", ERR_invalid_argument },
		{ NULL, "..", ERR_invalid_argument },
		{ NULL, "A\n", ERR_invalid_argument },
		{ NULL, "\xc3\xa9", ERR_invalid_argument },
		{ "", "A", ERR_invalid_argument },
		{ X64 "x", "A", ERR_invalid_argument },
		{ "..", "A", ERR_invalid_argument },
		{ ".a", "A", ERR_invalid_argument },
		{ "-a", "A", ERR_invalid_argument },
		{ "_a", "A", ERR_invalid_argument },
		{ "a/b", "A", ERR_invalid_argument },
		{ "a b", "A", ERR_invalid_argument },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct name name;
		struct err e = { 0 };
		int status = name_read(&name, &ann, rows[i].namespace, rows[i].name, &e);

		if (status != (rows[i].code == ERR_none ? 0 : -1) || e.code != rows[i].code)
			fail_msg("%zu: %s", i, e.text);
	}
}

static void
a_caller_without_a_name_has_none(void **unused)
{
	static const struct owner nobody = { "", "work" };
	struct name name;
	struct err e;

	(void)unused;
	assert_int_equal(name_read(&name, &nobody, NULL, "A", &e), -1);
	assert_int_equal(e.code, ERR_unauthenticated);
	assert_int_equal(name_read(&name, &ann, NULL, "A", &e), 0);
	assert_string_equal(name.namespace, "default");
}

static void
sizes_of_values(void **unused)
{
	const struct name name = vault_name(&ann, NULL, "A");
	struct err e;

	(void)unused;
	assert_int_equal(name_check_value(&name, NAME_MIN_VALUE - 1, &e), -1);
	assert_int_equal(e.code, ERR_invalid_argument);
	assert_int_equal(name_check_value(&name, NAME_MIN_VALUE, &e), 0);
	assert_int_equal(name_check_value(&name, NAME_MAX_VALUE, &e), 0);
	assert_int_equal(name_check_value(&name, NAME_MAX_VALUE + 1, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
}

static void
operators(void **unused)
{
	static const struct {
		const char *setting, *principal;
		bool is;
	} rows[] = {
		{ "local:*", "local:1000", true },
		{ "local:*", "local:", true },
		{ "local:*", "token:local:1", false },
		{ "local:*", "local", false },
		{ "local:1000", "local:1000", true },
		{ "local:1000", "local:10001", false },
		{ "local:1000", "local:100", false },
		{ "token:a,local:1000", "local:1000", true },
		{ "token:a,,local:1000,", "local:1000", true },
		{ "token:a,local:1000", "token:a,local:1000", false },
		{ "*", "token:a", true },
		{ "", "local:1000", false },
		{ ",", "local:1000", false },
		{ ",", "", false },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		options.operators = (char *)(uintptr_t)rows[i].setting;
		if (name_is_operator(rows[i].principal) != rows[i].is)
			fail_msg("%zu: %s and %s", i, rows[i].setting, rows[i].principal);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		VAULT_TEST(names),
		VAULT_TEST(a_caller_without_a_name_has_none),
		VAULT_TEST(sizes_of_values),
		VAULT_TEST(operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
