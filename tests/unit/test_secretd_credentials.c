/* SPDX-License-Identifier: Apache-2.0 */
/* test_secretd_credentials.c - what a netrc file says, and what in it is refused, with its line. */
#include "executor/secretd/credentials.h"

#include "scratch.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GOOD_B "machine b.test login me password 12345678\n"
#define GOOD   "machine a.test login me password 12345678\n"

static void
check_value(const struct credentials *all, const char *name, const char *value, const char *bare)
{
	const struct credential *one = credentials_find(all, name);

	assert_non_null(one);
	assert_string_equal(one->value, value);
	assert_string_equal(one->password, bare);
}

static void
test_forms(void **state)
{
	static const char *const texts[] = {
		GOOD,
		"machine A.Test login me password 12345678",
		"\r\n# of the index\r\nmachine a.test\r\n\tlogin me\r\n\tpassword 12345678\r\n",
		"machine a.test password \"12345678\" login \"me\" # the end",
		"#machine a.test\n" GOOD "# machine a.test",
	};
	struct credentials all;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(credentials_read(texts[i], strlen(texts[i]), &all, &e), 0);
		assert_int_equal(all.count, 1);
		check_value(&all, "a.test", "Basic bWU6MTIzNDU2Nzg=", "12345678");
		credentials_clear(&all);
		assert_int_equal(all.count, 0);
	}
}

static void
test_quotes(void **state)
{
	static const char text[] = "machine a.test login \"a b\" password \"x \\\"y\\\\z #1\"\n"
				   "machine b.test login __token__ password #12345678\n";
	struct credentials all;
	struct err e;

	(void)state;
	assert_int_equal(credentials_read(text, strlen(text), &all, &e), 0);
	check_value(&all, "a.test", "Basic YSBiOnggInlceiAjMQ==", "x \"y\\z #1");
	check_value(&all, "b.test", "Basic X190b2tlbl9fOiMxMjM0NTY3OA==", "#12345678");
	assert_null(credentials_find(&all, "c.test"));
	credentials_keep(&all, "b.test");
	assert_int_equal(all.count, 1);
	assert_null(credentials_find(&all, "a.test"));
	credentials_clear(&all);
}

/* As npm's registries take. */
static void
test_tokens(void **state)
{
	static const char text[] = "machine a.test token npm_A-b.c~d+e/f==\n" GOOD_B;
	struct credentials all;
	struct err e;

	(void)state;
	assert_int_equal(credentials_read(text, strlen(text), &all, &e), 0);
	check_value(&all, "a.test", "Bearer npm_A-b.c~d+e/f==", "npm_A-b.c~d+e/f==");
	check_value(&all, "b.test", "Basic bWU6MTIzNDU2Nzg=", "12345678");
	credentials_clear(&all);
}

static void
test_refusals(void **state)
{
	static const struct {
		const char *text, *line, *why;
	} refusals[] = {
		{ GOOD "\ndefault login x password 12345678", "line 3:", "default" },
		{ GOOD "macdef init\ncd /\n\n", "line 2:", "macdef" },
		{ "machine a.test login me password 1234567", "line 1:", "fewer than 8" },
		{ "machine a.test\nlogin me\n", "line 1:", "no password" },
		{ "\nmachine a.test password 12345678\n" GOOD, "line 2:", "no login" },
		{ GOOD GOOD, "line 2:", "twice" },
		{ GOOD "machine A.test login b password 12345678", "line 2:", "twice" },
		{ "machine a.test account x login me", "line 1:", "expected" },
		{ "login me", "line 1:", "before a machine" },
		{ "\npassword 12345678", "line 2:", "before a machine" },
		{ "machine a.test login me login me", "line 1:", "second login" },
		{ "machine a.test password 12345678 password 12345678",
		    "line 1:", "second password" },
		{ "machine a.test login a:b password 12345678", "line 1:", "colon" },
		{ "machine a.test login \"\" password 12345678", "line 1:", "empty" },
		{ "machine a.test login \"me", "line 1:", "quote is not closed" },
		{ "machine a.test login \"me\"x password 12345678", "line 1:", "no space" },
		{ "machine a.test login m\"e\" password 12345678", "line 1:", "quote" },
		{ "machine a.test login me password 1234\\5678", "line 1:", "backslash" },
		{ "machine a.test login me password \"1234\\n5678\"", "line 1:", "backslash" },
		{ "machine a.test login me password \"12345678\\", "line 1:", "backslash" },
		{ "machine a.test login me password \"1234\n5678\"", "line 1:", "control" },
		{ "machine a.test login me\x01 password 12345678", "line 1:", "control" },
		{ "machine a.test:443 login me password 12345678", "line 1:", "without a port" },
		{ "machine 10.0.0.1 login me password 12345678", "line 1:", "name of a host" },
		{ "machine *.a.test login me password 12345678", "line 1:", "name of a host" },
		{ "machine a.test login", "line 1:", "no value" },
		{ "machine a.test token 1234567", "line 1:", "fewer than 8" },
		{ "machine a.test token \"1234 5678\"", "line 1:", "letters, digits" },
		{ "machine a.test token 12345678 login me", "line 1:", "beside a token" },
		{ "machine a.test token 12345678 password 12345678", "line 1:", "second password" },
		{ "token 12345678", "line 1:", "before a machine" },
	};
	struct credentials all;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++) {
		assert_int_equal(
		    credentials_read(refusals[i].text, strlen(refusals[i].text), &all, &e), -1);
		if (strncmp(e.text, refusals[i].line, strlen(refusals[i].line)) != 0 ||
		    strstr(e.text, refusals[i].why) == NULL || strstr(e.text, "1234") != NULL)
			fail_msg("%zu: %s", i, e.text);
		assert_int_equal(all.count, 0);
	}
}

static void
test_bounds(void **state)
{
	static char text[CREDENTIALS_BYTES];
	char word[CREDENTIALS_WORD + 1];
	struct credentials all;
	struct err e;
	size_t n = 0;

	(void)state;
	memset(word, 'w', sizeof word);
	word[CREDENTIALS_WORD - 1] = '\0';
	snprintf(text, sizeof text, "machine a.test login %s password %s", word, word);
	assert_int_equal(credentials_read(text, strlen(text), &all, &e), 0);
	assert_int_equal(strlen(all.all[0]->value), 6 + (2 * CREDENTIALS_WORD - 1 + 2) / 3 * 4);
	credentials_clear(&all);
	word[CREDENTIALS_WORD - 1] = 'w';
	word[CREDENTIALS_WORD] = '\0';
	snprintf(text, sizeof text, "machine a.test login me password %s", word);
	assert_int_equal(credentials_read(text, strlen(text), &all, &e), -1);
	for (int i = 0; i <= CREDENTIALS_MAX; i++)
		n += (size_t)snprintf(
		    text + n, sizeof text - n, "machine m%d.test login me password 12345678\n", i);
	assert_int_equal(credentials_read(text, n, &all, &e), -1);
	assert_non_null(strstr(e.text, "line 257: more than 256"));
}

static void
test_file(void **state)
{
	struct credentials all;
	struct err e;
	char path[4096];
	char base[] = "/tmp/netrc-XXXXXX";

	(void)state;
	assert_int_equal(scratch_make(base), 0);
	auto_fd int directory = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	snprintf(path, sizeof path, "%s/netrc", base);
	assert_int_equal(credentials_load(path, &all, &e), -1);
	assert_int_equal(fdio_store(directory, "netrc", GOOD, strlen(GOOD), 0600, &e), 0);
	assert_int_equal(credentials_load(path, &all, &e), 0);
	check_value(&all, "a.test", "Basic bWU6MTIzNDU2Nzg=", "12345678");
	credentials_clear(&all);
	for (mode_t bit = 1; bit <= 040; bit <<= 1) {
		assert_int_equal(chmod(path, 0600 | bit), 0);
		assert_int_equal(credentials_load(path, &all, &e), -1);
		assert_int_equal(e.code, ERR_denied);
	}
	assert_int_equal(fdio_store(directory, "netrc", "default", 7, 0600, &e), 0);
	assert_int_equal(credentials_load(path, &all, &e), -1);
	assert_non_null(strstr(e.text, "netrc: line 1: "));
	assert_int_equal(scratch_remove(base), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
