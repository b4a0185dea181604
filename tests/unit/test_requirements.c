/* SPDX-License-Identifier: Apache-2.0 */
/* test_requirements.c - which lines of a requirements.txt are read, and which are refused. */
#include "executor/packages/requirements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static int
read_text(const char *text, struct texts *list, struct err *e)
{
	return requirements_read(
	    &(struct blob){ (void *)(uintptr_t)text, strlen(text) }, 3, list, e);
}

static void
reads_names(void **state)
{
	struct texts list = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(read_text("# all\n\n  six  # why\r\npandas>=2,<3; python_version > '3'\n"
				   "a@b#c",
			     &list, &e),
	    0);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.items[0], "six");
	assert_string_equal(list.items[1], "pandas>=2,<3; python_version > '3'");
	assert_string_equal(list.items[2], "a@b#c");
	texts_clear(&list);
}

static void
refuses_options(void **state)
{
	static const char *const wrong[] = { "six\n-r other.txt", "six\n--index-url=x",
		"six\nnumpy --hash=sha256:0", "six\nnumpy \\" };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct texts list = { 0 };
		struct err e;

		assert_int_equal(read_text(wrong[i], &list, &e), -1);
		assert_int_equal(e.code, ERR_invalid_argument);
		assert_non_null(strstr(e.text, "line 2"));
		texts_clear(&list);
	}
}

static int
read_manifest(const char *text, struct texts *list, struct err *e)
{
	return requirements_of_manifest(
	    &(struct blob){ (void *)(uintptr_t)text, strlen(text) }, 2, list, e);
}

static void
reads_dependencies(void **state)
{
	struct texts list = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(read_manifest("{\"dependencies\": {\"a\": \"^1\", \"@s/b\": \"\"}, "
				       "\"devDependencies\": {\"c\": \"1\"}}",
			     &list, &e),
	    0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0], "a@^1");
	assert_string_equal(list.items[1], "@s/b@");
	texts_clear(&list);
	assert_int_equal(read_manifest("{\"name\": \"x\"}", &list, &e), 0);
	assert_int_equal(list.count, 0);
}

static void
refuses_other_manifests(void **state)
{
	static const struct {
		const char *text, *says;
		enum err_code code;
	} wrong[] = {
		{ "", "line 1", ERR_invalid_argument },
		{ "[]x", "line 1", ERR_invalid_argument },
		{ "{\"a\": 1,\n\"a\": 1}", "line 2", ERR_invalid_argument },
		{ "{\"dependencies\": \"a\"}", "no object", ERR_invalid_argument },
		{ "{\"dependencies\": {\"a\": null}}", "a: no range", ERR_invalid_argument },
		{ "{\"dependencies\": {\"a\": \"1\", \"b\": \"1\", \"c\": \"1\"}}", "more than 2",
		    ERR_limit_exceeded },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct texts list = { 0 };
		struct err e;

		assert_int_equal(read_manifest(wrong[i].text, &list, &e), -1);
		assert_int_equal(e.code, wrong[i].code);
		assert_non_null(strstr(e.text, wrong[i].says));
		texts_clear(&list);
	}
}

static void
has_limits(void **state)
{
	char line[300];
	struct texts list = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(read_text("a\nb\nc\nd", &list, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	texts_clear(&list);
	memset(line, 'a', sizeof line - 1);
	line[256] = '\0';
	assert_int_equal(read_text(line, &list, &e), -1);
	line[255] = '\0';
	assert_int_equal(read_text(line, &list, &e), 0);
	texts_clear(&list);
	assert_int_equal(read_text("a\xff", &list, &e), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_names),
		cmocka_unit_test(refuses_options),
		cmocka_unit_test(reads_dependencies),
		cmocka_unit_test(refuses_other_manifests),
		cmocka_unit_test(has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
