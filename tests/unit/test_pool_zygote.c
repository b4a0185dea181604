/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_zygote.c - which zygotes there are, and when those of environments start. */
#include "pool_setup.h"
#include "scratch.h"

#include "executor/environment.h"
#include "executor/options.h"
#include "executor/run/pool.h"
#include "executor/runtime.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static int
begin(void **state)
{
	(void)state;
	if (set_up_pool() < 0)
		return -1;
	environment_open(NULL); /* the default one has the texts of the settings */
	return 0;
}

static int
end(void **state)
{
	(void)state;
	make_all();
	pool_stop();
	fake_bury();
	return 0;
}

static void
knows_the_zygote_of_a_profile(void **state)
{
	(void)state;
	assert_int_equal(pool_zygote(language_python, "open", 0), BASIC);
	assert_int_equal(pool_zygote(language_python, "basic,data_science", 0), SCIENCE);
	assert_int_equal(pool_zygote(language_python, "data_science, network", 0), SCIENCE);
	assert_int_equal(pool_zygote(language_python, "data_sciences", 0), BASIC);
	assert_int_equal(pool_zygote(language_node, "data_science", 0), 0);
}

static void
tells_the_builder_of_its_zygotes(void **state)
{
	struct texts texts = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(pool_arguments(&texts, &e), 0);
	assert_int_equal(texts.count, 3 + 2 * 4);
	assert_string_equal(texts.items[0], "python");
	assert_string_equal(texts.items[3], "zygote");
	assert_string_equal(texts.items[5], options.preimport);
	assert_string_equal(texts.items[6], "--");
	assert_non_null(strstr(texts.items[9], ",numpy"));
	texts_clear(&texts);
}

static void
make_environment(const char *state, const char *path)
{
	char whole[256];

	snprintf(whole, sizeof whole, "%s/environments%s", state, path);
	assert_int_equal(mkdir(whole, 0755), 0);
}

/* Its zygote imports for seconds, which no caller waits for if none comes at once.  The
 * environment stays for the tests behind. */
static void
calls_for_environments_after_a_while(void **unused)
{
	static char state[] = "/tmp/cloister-pool-XXXXXX";
	size_t forked;

	(void)unused;
	assert_int_equal(scratch_make(state), 0);
	make_environment(state, "");
	make_environment(state, "/one");
	make_environment(state, "/one/bin");
	make_environment(state, "/one/bin/python3"); /* it can be entered, as a program executed */
	make_environment(state, "/an-image");
	environment_open(state);
	assert_int_equal(environment_count(), 3);
	pool_start();
	make_all();
	forked = fake.forked;
	fake_pass(2000);
	make_all();
	assert_int_equal(fake.forked, forked);
	fake_pass(2000);
	make_all();
	assert_int_equal(fake.forked, forked + 1);
	assert_int_equal(pool_counts()->waiting, LEAST + 2);
	scratch_remove(state);
}

/* Each interpreter, and a zygote for each but the first, which has two, and for an image, which has
 * none. */
static void
tells_the_builder_of_environments(void **state)
{
	struct texts texts = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(pool_arguments(&texts, &e), 0);
	assert_int_equal(texts.count, 2 * 3 + 4 + 3 * 4);
	assert_string_equal(texts.items[3], "image");
	assert_string_equal(texts.items[4], "/usr/bin/python3");
	assert_non_null(strstr(texts.items[5], "/an-image/rootfs"));
	assert_non_null(strstr(texts.items[8], "/one/bin/python3"));
	assert_string_equal(texts.items[18], "zygote");
	assert_string_equal(texts.items[19], texts.items[8]);
	assert_int_equal(pool_zygote(language_python, "data_science", 1), 0);
	assert_int_equal(pool_zygote(language_python, "data_science", 2), SCIENCE + 1);
	texts_clear(&texts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(knows_the_zygote_of_a_profile, begin, end),
		cmocka_unit_test_setup_teardown(tells_the_builder_of_its_zygotes, begin, end),
		cmocka_unit_test_setup_teardown(calls_for_environments_after_a_while, begin, end),
		cmocka_unit_test_setup_teardown(tells_the_builder_of_environments, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
