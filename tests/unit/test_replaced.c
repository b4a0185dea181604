/* SPDX-License-Identifier: Apache-2.0 */
/* test_replaced.c - each row of replaced.def: a variable without effect is reported once, by name.
 */
#include "common/base/auto.h"
#include "common/table/replaced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* clang-format off */
static const char *const variables[] = {
#define VARIABLE(row, ...) row,
#define KEY(...)
#include "common/table/replaced.def"
};

static const char *const keys[] = {
#define VARIABLE(...)
#define KEY(row, ...) row,
#include "common/table/replaced.def"
};
/* clang-format on */

static int reports;
static char reported[REPLACED_BYTES];

static void
note(const char *name, const char *instead)
{
	assert_true(strlen(instead) > 20);
	snprintf(reported, sizeof reported, "%s", name);
	reports++;
}

/* Sets the variable alone, as a name that the row stands for. */
static void
expect_report(const char *row)
{
	char name[REPLACED_BYTES];
	size_t size = strcspn(row, "*");

	snprintf(name, sizeof name, "%.*s%s", (int)size, row, row[size] == '*' ? "NAME" : "");
	setenv(name, "value", 1);
	reports = 0;
	replaced_report(note);
	unsetenv(name);
	assert_int_equal(reports, 1);
	assert_string_equal(reported, name);
}

static void
reports_each_variable(void **state)
{
	(void)state;
	replaced_report(note);
	assert_int_equal(reports, 0);
	for (size_t i = 0; i < COUNT(variables); i++)
		expect_report(variables[i]);
}

static void
reports_names_in_a_file(void **state)
{
	char path[] = "/tmp/cloister-replaced-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(dprintf(fd, "# SANDBOX_X=1\nOTHER=SANDBOX=2\n export SANDBOX_TIMEOUT = 2\n"
				"SANDBOX_LINE\nSANDBOXMCP_VAULT=env") > 0);
	close(fd);
	reports = 0;
	replaced_report_file(path, note);
	assert_int_equal(reports, 2);
	assert_int_equal(strncmp(reported, "SANDBOXMCP_VAULT of /tmp", 24), 0);
	unlink(path);
	replaced_report_file(path, note);
	assert_int_equal(mkfifo(path, 0600), 0);
	replaced_report_file(path, note);
	unlink(path);
	assert_int_equal(reports, 2);
}

static void
ignores_similar_names(void **state)
{
	(void)state;
	setenv("SANDBOX_IMAGES", "x", 1);
	setenv("SANDBOX_IMAG", "x", 1);
	reports = 0;
	replaced_report(note);
	assert_int_equal(reports, 0);
	unsetenv("SANDBOX_IMAGES");
	unsetenv("SANDBOX_IMAG");
}

static void
reports_noted_keys(void **state)
{
	int expected = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++) {
		const struct replaced_key *key = replaced_key(keys[i]);

		assert_string_equal(key->name, keys[i]);
		if (key->setting == NULL) {
			replaced_note(key);
			expected++;
		}
	}
	reports = 0;
	replaced_report(note);
	assert_int_equal(reports, expected);
	assert_null(replaced_key("executor"));
}

static void
converts_values(void **state)
{
	static const char row[] = "X_LEVEL:WARNING=warn:INFO=info:none= Y:INFO=other";
	char name[REPLACED_BYTES], ours[REPLACED_BYTES];

	(void)state;
	assert_int_equal(replaced_name(row, name), strcspn(row, " "));
	assert_string_equal(name, "X_LEVEL");
	assert_string_equal(replaced_value(row, "WARNING", ours), "warn");
	assert_string_equal(replaced_value(row, "info", ours), "info");
	assert_string_equal(replaced_value(row, "none", ours), "");
	assert_string_equal(replaced_value(row, "WARN", ours), "WARN");
	assert_string_equal(replaced_value(row, "", ours), "");
	assert_string_equal(replaced_value("X", "value", ours), "value");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_each_variable),
		cmocka_unit_test(reports_names_in_a_file),
		cmocka_unit_test(ignores_similar_names),
		cmocka_unit_test(reports_noted_keys),
		cmocka_unit_test(converts_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
