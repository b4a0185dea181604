/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c - a log line is one line of JSON, whatever the texts contain. */
#include "common/base/auto.h"
#include "common/base/err.h"
#include "common/base/log.h"

#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int real_stderr, reader;

static int
setup(void **state)
{
	int fds[2];

	(void)state;
	if (pipe2(fds, O_NONBLOCK) < 0)
		return -1;
	real_stderr = dup(STDERR_FILENO);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	reader = fds[0];
	log_open("tester", LOG_info);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(reader);
	return 0;
}

/* The line as JSON; NULL where nothing was written. */
static json_t *
written(void)
{
	static char text[65536];
	ssize_t n = read(reader, text, sizeof text - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	assert_ptr_equal(strchr(text, '\n'), text + n - 1);
	/* No character in it that a terminal obeys, or that turns others around. */
	static const char *const obeyed[] = { "\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae",
		"\xe2\x81\xa9" };
	for (size_t i = 0; i < COUNT(obeyed); i++)
		assert_null(strstr(text, obeyed[i]));
	json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(line);
	return line;
}

static const char *
text_of(json_t *line, const char *name)
{
	return json_string_value(json_object_get(line, name));
}

static void
a_line_has_what_was_said(void **state)
{
	const struct err e = { .text = "it broke" };

	(void)state;
	log_warn("listening", LOG_S("endpoint", "/run"), LOG_N("backlog", -5), LOG_E(&e));
	json_t *line = written();
	assert_string_equal(text_of(line, "level"), "warn");
	assert_string_equal(text_of(line, "daemon"), "tester");
	assert_string_equal(text_of(line, "text"), "listening");
	assert_string_equal(text_of(line, "endpoint"), "/run");
	assert_string_equal(text_of(line, "error"), "it broke");
	assert_int_equal(json_integer_value(json_object_get(line, "backlog")), -5);
	assert_int_equal(strlen(text_of(line, "time")), strlen("2026-01-01T00:00:00.000Z"));
	json_decref(line);
	log_info("alone");
	line = written();
	assert_int_equal(json_object_size(line), 4);
	json_decref(line);
}

static void
a_level_below_the_least_is_not_written(void **state)
{
	(void)state;
	log_debug("no");
	assert_null(written());
	log_open("tester", LOG_error);
	log_warn("no");
	assert_null(written());
	log_error("yes");
	json_t *line = written();
	assert_non_null(line);
	json_decref(line);
}

static const struct {
	const char *raw, *read;
} texts[] = {
	{ "plain", "plain" },
	{ "two\nlines\r", "two\nlines\r" },
	{ "quote \" and \\ and \t", "quote \" and \\ and \t" },
	{ "\x1b[31mred\x7f", "\x1b[31mred\x7f" },
	{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	    "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "bad \xff end", "bad \xef\xbf\xbd end" },
	{ "cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd" },
	{ "overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xc2\x9b"
	  "31mred",
	    "\xc2\x9b"
	    "31mred" },
	{ "a\xe2\x80\xaetxt.exe \xe2\x81\xa9", "a\xe2\x80\xaetxt.exe \xe2\x81\xa9" },
	{ "\",\"level\":\"error", "\",\"level\":\"error" },
};

static void
texts_are_escaped(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		log_info(texts[i].raw, LOG_S("value", texts[i].raw));
		json_t *line = written();
		assert_string_equal(text_of(line, "text"), texts[i].read);
		assert_string_equal(text_of(line, "value"), texts[i].read);
		json_decref(line);
	}
}

static void
long_texts_are_cut(void **state)
{
	char text[4096];

	(void)state;
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	log_info(text);
	json_t *line = written();
	assert_int_equal(strlen(text_of(line, "text")), 1024);
	json_decref(line);
}

static void
long_lines_are_cut_between_values(void **state)
{
	static char text[2048], names[63][2];
	struct log_value values[64] = { { 0 } };

	(void)state;
	memset(text, '\x01', sizeof text - 1);
	for (size_t i = 0; i < COUNT(names); i++) {
		names[i][0] = (char)('A' + i);
		values[i] = LOG_S(names[i], text);
	}
	log_write(LOG_info, "many", values);
	json_t *line = written();
	assert_int_equal(json_integer_value(json_object_get(line, "cut")), 1);
	assert_true(json_object_size(line) > 5);
	json_decref(line);
}

static void
levels_have_names(void **state)
{
	(void)state;
	assert_int_equal(log_parse("debug"), LOG_debug);
	assert_int_equal(log_parse("error"), LOG_error);
	assert_int_equal(log_parse("loud"), -1);
	assert_int_equal(log_parse(""), -1);
}

#define log_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		log_test(a_line_has_what_was_said),
		log_test(a_level_below_the_least_is_not_written),
		log_test(texts_are_escaped),
		log_test(long_texts_are_cut),
		log_test(long_lines_are_cut_between_values),
		log_test(levels_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
