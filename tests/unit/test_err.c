/* SPDX-License-Identifier: Apache-2.0 */
/* test_err.c - codes, texts that are cut to fit, and texts that quote unprintable bytes. */
#include "common/base/auto.h"
#include "common/base/err.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static void
sets_adds_and_names(void **state)
{
	struct err e = { .retry_ms = 5 };

	(void)state;
	assert_int_equal(err_set(&e, ERR_queue_full, "%d runs wait", 7), -1);
	assert_int_equal(e.code, ERR_queue_full);
	assert_int_equal(e.sys, 0);
	assert_int_equal(e.retry_ms, 0);
	assert_string_equal(e.text, "7 runs wait");
	e.retry_ms = 100;
	assert_int_equal(err_add(&e, "queue %s", "main"), -1);
	assert_string_equal(e.text, "queue main: 7 runs wait");
	assert_int_equal(e.code, ERR_queue_full);
	assert_int_equal(e.retry_ms, 100);
}

static void
tells_errno(void **state)
{
	struct err e;

	(void)state;
	errno = ENOSPC;
	assert_int_equal(err_sys(&e, "write %s", "a.csv"), -1);
	assert_int_equal(e.code, ERR_internal);
	assert_int_equal(e.sys, ENOSPC);
	assert_string_equal(e.text, "write a.csv: No space left on device");
	errno = 524; /* of the kernel's own, which some file systems let out */
	err_sys(&e, "write");
	assert_string_equal(e.text, "write: error 524");
}

/* However long what it quotes is, a text ends, and in front of it context still fits. */
static void
texts_stay_within(void **state)
{
	char longer[1000];

	(void)state;
	memset(longer, 'x', sizeof longer);
	for (size_t size = 200; size < 300; size++) {
		struct err e;

		longer[size] = 0;
		err_set(&e, ERR_internal, "%s", longer);
		assert_int_equal(strlen(e.text), size < sizeof e.text ? size : sizeof e.text - 1);
		err_add(&e, "front");
		assert_int_equal(strncmp(e.text, "front: xxx", 10), 0);
		assert_true(strlen(e.text) < sizeof e.text);
		errno = EINVAL;
		err_sys(&e, "%s", longer);
		assert_true(strlen(e.text) < sizeof e.text);
		longer[size] = 'x';
	}
}

/* A text goes into replies, which are refused unless it is UTF-8. */
static void
texts_are_text(void **state)
{
	static const char snake[] = "\xf0\x9f\x90\x8d";
	char many[sizeof snake * 100] = "";

	(void)state;
	for (size_t i = 0; i < 100; i++)
		memcpy(many + i * 4, snake, sizeof snake);
	for (int at = 0; at < 4; at++) {
		struct err e;

		err_set(&e, ERR_internal, "%.*s%s", at, "abc", many); /* cut within a character */
		assert_true(utf8_valid(e.text, strlen(e.text)));
		err_add(&e, "%s", "\xff\n");
		assert_true(utf8_valid(e.text, strlen(e.text)));
		assert_int_equal(strncmp(e.text, "??: ", 4), 0);
		errno = EINVAL;
		err_sys(&e, "%s", "\x1b[0m\xc3");
		assert_string_equal(e.text, "?[0m?: Invalid argument");
	}
}

static void
codes_have_names_and_remedies(void **state)
{
	(void)state;
	for (int code = ERR_none + 1; code < ERR_COUNT; code++) {
		const char *remedy = err_remedy(code);

		assert_int_equal(err_parse(err_name(code)), code);
		assert_true(strlen(remedy) > 10);
		assert_int_equal(remedy[strlen(remedy) - 1], '.');
	}
	assert_int_equal(err_parse("no such code"), ERR_internal);
	assert_int_equal(err_parse(""), ERR_internal);
	assert_int_equal(err_parse("none"), ERR_internal);
}

/* What is short, and what its operator can do about it; behind whatever failed. */
static void
shortages_have_remedies(void **state)
{
	static const struct {
		int sys;
		const char *remedy;
	} rows[] = {
		{ ENOSPC, "make room on its file system" },
		{ EDQUOT, "raise the disk quota of its user" },
		{ EMFILE, "raise this daemon's limit of open files (LimitNOFILE)" },
		{ ENFILE, "raise the system's limit of open files (fs.file-max)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *remedy = err_shortage(rows[i].sys);
		struct err e;

		assert_int_equal(strncmp(remedy, "; ", 2), 0);
		assert_non_null(strstr(remedy, rows[i].remedy));
		assert_int_not_equal(remedy[strlen(remedy) - 1], '.');
		err_set(&e, ERR_unavailable, "the log cannot be written: %s%s",
		    strerror(rows[i].sys), remedy);
		assert_true(strlen(e.text) < sizeof e.text - 64); /* and context in front */
	}
	for (int sys = 0; sys < 140; sys++)
		if (sys != ENOSPC && sys != EDQUOT && sys != EMFILE && sys != ENFILE)
			assert_string_equal(err_shortage(sys), "");
}

static void
must_ends_the_process(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		fclose(stderr);
		signal(SIGABRT, SIG_DFL);
		must(child != 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_adds_and_names),
		cmocka_unit_test(tells_errno),
		cmocka_unit_test(texts_stay_within),
		cmocka_unit_test(texts_are_text),
		cmocka_unit_test(codes_have_names_and_remedies),
		cmocka_unit_test(shortages_have_remedies),
		cmocka_unit_test(must_ends_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
