/* SPDX-License-Identifier: Apache-2.0 */
/* test_settings.c - each source, their precedence, and the error texts of refused settings. */
#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/table/settings.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static char *config, *name;
static uint64_t most;
static double share;
static bool loud;

static const struct setting common[] = {
	{ "config", KIND_TEXT, &config, "", 0, 200, "TEST_CONFIG", "YAML file." },
	{ 0 },
};

static const struct setting own[] = {
	{ "name", KIND_TEXT, &name, "nobody", 1, 8, NULL, "Who." },
	{ "max_open", KIND_UINT, &most, "4", 1, 100, "OLD_MOST OLDER_MOST", "How many." },
	{ "share", KIND_REAL, &share, "0.5", 0, 2, NULL, "How much." },
	{ "loud", KIND_FLAG, &loud, "false", 0, 1, NULL, "Is it loud?" },
	{ 0 },
};

static char file[] = "/tmp/test-settings-XXXXXX";
static struct err e;

static void
forget(void)
{
	free(take_ptr(config));
	free(take_ptr(name));
}

static int
setup(void **state)
{
	(void)state;
	memcpy(file + sizeof file - 7, "XXXXXX", 6);
	int fd = mkstemp(file);
	return fd < 0 ? -1 : close(fd);
}

static int
teardown(void **state)
{
	static const char *const names[] = { "OLD_MOST", "OLDER_MOST", "TEST_CONFIG",
		"CLOISTER_EXECUTOR_MAX_OPEN", "CLOISTER_EXECUTOR_WHAT", "CLOISTER_EXECUTOR_LOUD",
		"CLOISTER_VALIDATOR_WHAT" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		unsetenv(names[i]);
	forget();
	return unlink(file);
}

/* Arguments end with NULL; like those of main(), nobody writes to them. */
static int
read_all(const char *const *arguments)
{
	char *argv[16] = { (char *)"test" };
	int argc = 1;

	forget();
	for (; *arguments != NULL; arguments++)
		argv[argc++] = (char *)*arguments;
	return settings_read("executor", common, own, argc, argv, &e);
}

#define READ(...) read_all((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static void
write_yaml(const char *text)
{
	FILE *f = fopen(file, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
defaults(void **state)
{
	(void)state;
	assert_int_equal(READ(), 0);
	assert_string_equal(name, "nobody");
	assert_int_equal(most, 4);
	assert_true(share == 0.5);
	assert_false(loud);
}

static void
flags(void **state)
{
	(void)state;
	assert_int_equal(READ("--max-open=7", "--name", "me", "--share=1.25", "--loud"), 0);
	assert_int_equal(most, 7);
	assert_string_equal(name, "me");
	assert_true(share == 1.25);
	assert_true(loud);
	assert_int_equal(READ("--loud", "--no-loud"), 0);
	assert_false(loud);
	assert_int_equal(READ("--loud=yes", "--max_open", "8"), 0);
	assert_true(loud);
	assert_int_equal(most, 8);
}

static void
environment(void **state)
{
	(void)state;
	setenv("OLDER_MOST", "9", 1);
	assert_int_equal(READ(), 0);
	assert_int_equal(most, 9);
	setenv("OLD_MOST", "10", 1); /* the first of the old names counts */
	assert_int_equal(READ(), 0);
	assert_int_equal(most, 10);
	setenv("CLOISTER_EXECUTOR_MAX_OPEN", "11", 1);
	assert_int_equal(READ(), 0);
	assert_int_equal(most, 11);
	setenv("CLOISTER_VALIDATOR_WHAT", "another daemon's", 1);
	assert_int_equal(READ(), 0);
}

static void
later_sources_win(void **state)
{
	(void)state;
	write_yaml("executor:\n  max_open: 20\n  name: 'it''s'\n  loud: on\nvalidator:\n  x: 1\n");
	setenv("TEST_CONFIG", file, 1);
	assert_int_equal(READ(), 0);
	assert_int_equal(most, 20);
	assert_string_equal(name, "it's");
	assert_true(loud);
	setenv("CLOISTER_EXECUTOR_LOUD", "no", 1);
	setenv("CLOISTER_EXECUTOR_MAX_OPEN", "21", 1);
	assert_int_equal(READ("--max-open=22"), 0);
	assert_int_equal(most, 22);
	assert_false(loud);
	assert_int_equal(READ("--config", file), 0);
	assert_int_equal(most, 21);
	write_yaml("");
	assert_int_equal(READ(), 0);
}

static const struct {
	const char *argument, *says;
} wrong[] = {
	{ "--max-open=0", "--max-open=0: max_open is '0', allowed is a number from 1 to 100" },
	{ "--max-open=101", "allowed is a number from 1 to 100" },
	{ "--max-open=-1", "max_open is '-1'" },
	{ "--max-open=+1", "max_open is '+1'" },
	{ "--max-open= 1", "max_open is ' 1'" },
	{ "--max-open=1x", "max_open is '1x'" },
	{ "--max-open=", "max_open is ''" },
	{ "--max-open=99999999999999999999", "allowed is" },
	{ "--share=nan", "share is 'nan'" },
	{ "--share=2.1", "allowed is a number from 0 to 2" },
	{ "--share=1e999", "allowed is" },
	{ "--name=", "a text of 1 to 8 bytes" },
	{ "--name=123456789", "a text of 1 to 8 bytes" },
	{ "--loud=perhaps", "allowed is true or false" },
	{ "--no-name", "unknown flag '--no-name'" },
	{ "--what=1", "unknown flag '--what=1'" },
	{ "--", "unknown flag" },
	{ "-n", "unexpected argument '-n'" },
	{ "stray", "unexpected argument 'stray'" },
	{ "--name", "--name: value required" },
	{ "--config=/nonexistent/file", "config" },
};

static void
wrong_flags(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(READ(wrong[i].argument), -1);
		if (strstr(e.text, wrong[i].says) == NULL)
			fail_msg("%s: '%s'", wrong[i].argument, e.text);
	}
}

static void
wrong_environment(void **state)
{
	(void)state;
	setenv("CLOISTER_EXECUTOR_WHAT", "1", 1);
	assert_int_equal(READ(), -1);
	assert_non_null(strstr(e.text, "unknown setting what of executor"));
	unsetenv("CLOISTER_EXECUTOR_WHAT");
	setenv("OLD_MOST", "many", 1);
	assert_int_equal(READ(), -1);
	assert_non_null(strstr(e.text, "OLD_MOST: max_open is 'many'"));
}

static const struct {
	const char *yaml, *says;
} broken[] = {
	{ "executor:\n  what: 1\n", "executor: unknown setting 'what'" },
	{ "executer:\n  max_open: 1\n", "unknown daemon 'executer'" },
	{ "executor:\n  max_open: 1\n  max_open: 2\n", "max_open given twice" },
	{ "executor:\n  max_open: 1000\n", "allowed is a number from 1 to 100" },
	{ "executor:\n  max_open: [1, 2]\n", "single value required" },
	{ "executor:\n  max_open: {a: 1}\n", "single value required" },
	{ "executor: 5\n", "executor: not a mapping" },
	{ "executor:\n  config: /other\n", "unknown setting 'config'" },
	{ "- executor\n", "not a mapping of daemons" },
	{ "executor: {\n", ":2:" },
	{ "executor:\n\tmax_open: 1\n", ":2:" },
	{ "executor:\n  name: \"a\\0b\"\n", "single value required" },
	{ "? [a]\n: b\n", "single value required" },
};

static void
wrong_yaml(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(broken); i++) {
		write_yaml(broken[i].yaml);
		assert_int_equal(READ("--config", file), -1);
		if (strstr(e.text, broken[i].says) == NULL)
			fail_msg("%s: '%s'", broken[i].yaml, e.text);
	}
}

/* Output and exit status of settings_load() in a process of its own. */
static int
load(const char *argument, char *output, size_t size)
{
	int fds[2], status;

	forget(); /* or the child would leave them behind */
	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		settings_load("executor", "runs code", common, own, 2,
		    (char *[]){ (char *)"test", (char *)argument, NULL });
		_exit(77);
	}
	close(fds[1]);
	size_t n = 0;
	for (ssize_t got; (got = read(fds[0], output + n, size - 1 - n)) > 0;)
		n += (size_t)got;
	output[n] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void
what_is_printed(void **state)
{
	char output[8192];

	(void)state;
	assert_int_equal(load("--help", output, sizeof output), 0);
	assert_non_null(strstr(output, "executor: runs code"));
	assert_non_null(strstr(output, "--max-open=4"));
	assert_non_null(strstr(output, "1 to 100"));
	assert_non_null(strstr(output, "OLD_MOST OLDER_MOST"));
	assert_int_equal(load("--version", output, sizeof output), 0);
	assert_string_equal(output, CLOISTER_VERSION "\n");
	assert_int_equal(load("--what", output, sizeof output), 2);
	assert_string_equal(output, "executor: unknown flag '--what'; --help lists them\n");
	assert_int_equal(load("--max-open=5", output, sizeof output), 77);
	assert_string_equal(output, "");
}

/* An operator's file may be a link, as those of a mounted ConfigMap are. */
static void
a_link_is_followed(void **state)
{
	char link[sizeof file + 5];

	(void)state;
	write_yaml("executor:\n  max_open: 34\n");
	snprintf(link, sizeof link, "%s.link", file);
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(READ("--config", link), 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(most, 34);
}

/* What is printed is a file that gives the same settings. */
static void
printed_settings_can_be_read(void **state)
{
	static const char *const names[] = { "it's", "a\nb", "'\\\"\n\t'", "\x01\x7f", "\\n\"",
		"\u20ac\n" };
	char output[8192];

	(void)state;
	setenv("CLOISTER_EXECUTOR_MAX_OPEN", "33", 1);
	assert_int_equal(load("--print-settings", output, sizeof output), 0);
	unsetenv("CLOISTER_EXECUTOR_MAX_OPEN");
	write_yaml(output);
	assert_int_equal(READ("--config", file), 0);
	assert_int_equal(most, 33);
	assert_string_equal(name, "nobody");
	for (size_t i = 0; i < COUNT(names); i++) {
		setenv("CLOISTER_EXECUTOR_NAME", names[i], 1);
		assert_int_equal(load("--print-settings", output, sizeof output), 0);
		unsetenv("CLOISTER_EXECUTOR_NAME");
		write_yaml(output);
		assert_int_equal(READ("--config", file), 0);
		assert_string_equal(name, names[i]);
	}
}

#define settings_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		settings_test(defaults),
		settings_test(flags),
		settings_test(environment),
		settings_test(later_sources_win),
		settings_test(wrong_flags),
		settings_test(wrong_environment),
		settings_test(wrong_yaml),
		settings_test(what_is_printed),
		settings_test(a_link_is_followed),
		settings_test(printed_settings_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
