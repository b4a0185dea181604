/* SPDX-License-Identifier: Apache-2.0 */
/* test_require.c - the setting require_layers against the layers that a host has. */
#include "executor/sandbox/builder_link.h"
#include "executor/sandbox/isolation.h"

#include "common/base/auto.h"
#include "executor/builder/containers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char *missing[] = { (char *)"memory limit: not verified",
	(char *)"landlock scopes: Invalid argument" };

/* Every layer but those. */
static void
fill(struct texts *in_force)
{
	for (int l = 0; l < LAYER_COUNT; l++)
		if (l != LAYER_memory_limit && l != LAYER_landlock_scopes)
			assert_int_equal(texts_add(in_force, layer_name((enum layer)l)), 0);
}

static int
demand(const char *words, char last[24], struct err *e)
{
	struct texts arguments = { 0 };
	int status = isolation_demand(words, &arguments, e);

	if (status == 0) {
		assert_int_equal(arguments.count, 3);
		assert_string_equal(arguments.items[0], "require");
		snprintf(last, 24, "%s", arguments.items[1]);
	}
	texts_clear(&arguments);
	return status;
}

static void
refuses_what_is_not_in_force(void **state)
{
	static const struct {
		const char *words;
		enum err_code code;
		const char *text;
	} cases[] = {
		{ "", ERR_none, "" },
		{ "pid_namespace,seccomp", ERR_none, "" },
		{ "landlock", ERR_none, "" }, /* not landlock scopes */
		{ "all", ERR_isolation_unavailable, "memory limit: not verified" },
		{ "all,-memory_limit", ERR_isolation_unavailable, "landlock scopes" },
		{ "all, -memory_limit, -landlock_scopes", ERR_none, "" },
		{ "-memory_limit,all", ERR_isolation_unavailable, "memory limit" },
		{ "seccomp,landlock_scopes", ERR_isolation_unavailable, "landlock scopes" },
		{ "memory limit", ERR_invalid_argument, "\"memory\" is not a layer" },
		{ "-none", ERR_invalid_argument, "\"none\" is not a layer" },
	};
	struct isolation in = { .missing = { missing, COUNT(missing) } };
	char bits[24];

	(void)state;
	fill(&in.layers);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err e = { 0 };
		int status = demand(cases[i].words, bits, &e);

		if (status == 0)
			status = isolation_require(&in, &e);
		assert_int_equal(status, cases[i].code == ERR_none ? 0 : -1);
		assert_int_equal(e.code, cases[i].code);
		assert_non_null(strstr(e.text, cases[i].text));
	}
	texts_clear(&in.layers);
}

/* A layer that nobody reports as missing is not there either. */
static void
takes_no_silence_for_a_layer(void **state)
{
	const struct isolation silent = { .backend = NULL };
	struct err e = { 0 };
	char bits[24];

	(void)state;
	assert_int_equal(demand("no_capabilities", bits, &e), 0);
	assert_true(isolation_demanded());
	assert_int_equal(isolation_require(&silent, &e), -1);
	assert_int_equal(e.code, ERR_isolation_unavailable);
	assert_non_null(strstr(e.text, "no capabilities"));
}

static void
knows_what_no_container_has(void **state)
{
	static const struct {
		const char *words;
		uint32_t container;
		const char *text; /* NULL: allowed */
	} cases[] = {
		{ "", CONTAINER_runsc, NULL },
		{ "all", CONTAINER_none, NULL },
		{ "all", CONTAINER_crun, "a container of crun has no landlock" },
		{ "all,-landlock,-landlock_scopes", CONTAINER_crun, NULL },
		{ "all,-landlock,-landlock_scopes", CONTAINER_runsc, "runsc has no own loopback" },
		{ "seccomp,memory_limit,pid_namespace", CONTAINER_runsc, NULL },
		{ "own_uid", CONTAINER_runsc, "a container of runsc has no own uid" },
	};
	char bits[24];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err e = { 0 };

		assert_int_equal(demand(cases[i].words, bits, &e), 0);
		assert_int_equal(
		    isolation_allow(cases[i].container, &e), cases[i].text == NULL ? 0 : -1);
		if (cases[i].text != NULL) {
			assert_int_equal(e.code, ERR_isolation_unavailable);
			assert_non_null(strstr(e.text, cases[i].text));
		}
	}
}

static void
tells_the_builder(void **state)
{
	struct err e = { 0 };
	char bits[24];

	(void)state;
	assert_int_equal(demand("mount_namespace,network_namespace", bits, &e), 0);
	assert_string_equal(bits, "5");
	assert_int_equal(demand("", bits, &e), 0);
	assert_string_equal(bits, "0");
	assert_false(isolation_demanded());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_is_not_in_force),
		cmocka_unit_test(takes_no_silence_for_a_layer),
		cmocka_unit_test(knows_what_no_container_has),
		cmocka_unit_test(tells_the_builder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
