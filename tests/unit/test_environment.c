/* SPDX-License-Identifier: Apache-2.0 */
/* test_environment.c - what is an environment, and by which number and modules. */
#include "scratch.h"

#include "executor/builder/order.h"
#include "executor/environment.h"
#include "executor/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char state[] = "/tmp/cloister-environments-XXXXXX";

static void
make(const char *name, const char *text, mode_t mode)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/environments/%.100s", state, name);
	if (text == NULL) {
		assert_int_equal(mkdir(path, mode), 0);
		return;
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void
make_venv(const char *name)
{
	char path[512];

	make(name, NULL, 0755);
	snprintf(path, sizeof path, "%.40s/bin", name);
	make(path, NULL, 0755);
	snprintf(path, sizeof path, "%.40s/bin/python3", name);
	make(path, "", 0755);
}

static void
link_to(const char *target, const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "%s/environments/%.100s", state, name);
	assert_int_equal(symlink(target, path), 0);
}

static int
begin(void **unused)
{
	static char none[] = "", python[] = "/usr/bin/python3", ahead[] = "json";

	(void)unused;
	if (scratch_make(state) < 0)
		return -1;
	options.python = python;
	options.preimport = ahead;
	options.environments = none;
	make("", NULL, 0755);
	make_venv(".made-123456");
	link_to(".made-123456", "linked");
	make("linked.ahead", "numpy,pandas\n", 0644);
	make_venv("no.ahead");
	make_venv("plain");
	make_venv("Upper");
	make_venv("default");
	make("zimage", NULL, 0755);
	make("zimage/rootfs", NULL, 0755);
	make("zimage/image", "/opt/venv/bin/python3 12\n", 0644);
	make("zimage/bin", NULL, 0755); /* an image it is all the same */
	make("empty", NULL, 0755);
	make("file", "", 0644);
	link_to("/nonexistent", "nowhere");
	environment_open(state);
	return 0;
}

static int
end(void **unused)
{
	(void)unused;
	return scratch_remove(state);
}

static void
are_venvs_with_an_interpreter(void **unused)
{
	char python[512];

	(void)unused;
	assert_int_equal(environment_count(), 4);
	assert_string_equal(environment_at(0)->name, "default");
	assert_string_equal(environment_at(0)->python, "/usr/bin/python3");
	assert_string_equal(environment_at(1)->name, "linked");
	assert_string_equal(environment_at(2)->name, "plain");
	snprintf(python, sizeof python, "%s/environments/.made-123456/bin/python3", state);
	assert_string_equal(environment_at(1)->python, python);
}

/* Nothing of it is imported ahead, for that would run it outside of boxes. */
static void
are_images_with_a_line_about_them(void **unused)
{
	const struct environment *image = environment_at(3);
	char root[512];
	struct err e;

	(void)unused;
	snprintf(root, sizeof root, "%s/environments/zimage/rootfs", state);
	assert_string_equal(image->root, root);
	assert_string_equal(image->python, "/opt/venv/bin/python3");
	assert_int_equal(image->minor, 12);
	assert_string_equal(image->ahead, "");
	assert_null(environment_at(2)->root);
	assert_int_equal(environment_needs_host(2, "packages", &e), 0);
	assert_int_equal(environment_needs_host(3, "packages", &e), -1);
	assert_non_null(strstr(e.text, "packages: the environment zimage is an image"));
}

static void
import_ahead_what_the_file_says(void **unused)
{
	(void)unused;
	assert_string_equal(environment_at(0)->ahead, "json");
	assert_string_equal(environment_at(1)->ahead, "json,numpy,pandas");
	assert_string_equal(environment_at(2)->ahead, "json");
}

static void
are_found_by_name(void **unused)
{
	uint64_t number = 7;
	struct err e;

	(void)unused;
	assert_int_equal(environment_ask(NULL, &number, &e), 0);
	assert_int_equal(number, 7);
	assert_int_equal(environment_ask("plain", &number, &e), 0);
	assert_int_equal(number, 2);
	assert_int_equal(environment_ask("default", &number, &e), 0);
	assert_int_equal(number, 0);
	assert_int_equal(environment_ask("Upper", &number, &e), -1);
	assert_int_equal(e.code, ERR_invalid_argument);
	assert_string_equal(
	    e.text, "environment: 'Upper' is not one of default, linked, plain, zimage");
}

/* The last test: it adds to the table. */
static void
are_so_many_at_most(void **unused)
{
	char name[32];

	(void)unused;
	for (int i = 0; i < ORDER_MAX_ENVIRONMENTS; i++) {
		snprintf(name, sizeof name, "more-%d", i);
		make_venv(name);
	}
	environment_open(state);
	assert_int_equal(environment_count(), ORDER_MAX_ENVIRONMENTS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_venvs_with_an_interpreter),
		cmocka_unit_test(import_ahead_what_the_file_says),
		cmocka_unit_test(are_images_with_a_line_about_them),
		cmocka_unit_test(are_found_by_name),
		cmocka_unit_test(are_so_many_at_most),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
