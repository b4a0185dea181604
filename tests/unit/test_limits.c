/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits.c - sizes as text, caps, and settings that fit together. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/check/policy.h"
#include "executor/run/limits.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static int
read_defaults(char **environment, struct err *e)
{
	for (; *environment != NULL; environment++)
		putenv(*environment);
	return fake_options(e);
}

static int
defaults(void **state)
{
	char *none = NULL;
	struct err e;

	(void)state;
	return read_defaults(&none, &e);
}

static void
reads_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
	} cases[] = {
		{ "512m", 512ull << 20 },
		{ "1g", 1ull << 30 },
		{ "1GiB", 1ull << 30 },
		{ "64KB", 64 << 10 },
		{ "67108864", 67108864 },
		{ "7b", 7 },
		{ "", 0 },
		{ "m", 0 },
		{ "-1m", 0 },
		{ "+1m", 0 },
		{ " 1m", 0 },
		{ "1 m", 0 },
		{ "1.5g", 0 },
		{ "0x10", 0 },
		{ "1t", 0 },
		{ "1mm", 0 },
		{ "99999999999999m", 0 },
		{ "999999999999g", 0 },
		{ "18446744073709551616", 0 },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t bytes = 0;
		int status = limits_bytes("memory_limit", cases[i].text, &bytes, &e);

		assert_int_equal(status, cases[i].bytes != 0 ? 0 : -1);
		assert_int_equal(bytes, cases[i].bytes);
		if (status < 0) {
			assert_int_equal(e.code, ERR_invalid_argument);
			assert_non_null(strstr(e.text, "memory_limit"));
		}
	}
}

static void
keeps_to_the_caps(void **state)
{
	static const struct {
		struct resource_limits asked;
		const char *says; /* NULL: granted */
		enum err_code code;
	} cases[] = {
		{ { .max_ram_mb = 256 }, NULL, ERR_none },
		{ { .max_ram_mb = 8193 }, "r.max_ram_mb: 8193 is over this server's limit of 8192",
		    ERR_limit_exceeded },
		{ { .max_ram_mb = 1 }, "r.max_ram_mb: 1 is below the minimum of 16",
		    ERR_invalid_argument },
		{ { .max_processes = 1025 }, "r.max_processes", ERR_limit_exceeded },
		{ { .max_open_files = 3 }, "r.max_open_files", ERR_invalid_argument },
		{ { .max_output_bytes = 10485761 }, "r.max_output_bytes", ERR_limit_exceeded },
		{ { .max_disk_mb = 2048 }, "r.max_disk_mb", ERR_limit_exceeded },
		{ { .max_files = 70000 }, "r.max_files", ERR_limit_exceeded },
		{ { .max_cpu_cores = 64 }, "r.max_cpu_cores", ERR_limit_exceeded },
		{ { .max_cpu_cores = 0.001 }, "r.max_cpu_cores", ERR_invalid_argument },
		{ { .timeout_seconds = 0.25 }, NULL, ERR_none },
		{ { .max_cpu_seconds = 9 }, NULL, ERR_none },
		{ { .max_cpu_seconds = 11 }, "r.max_cpu_seconds: 11 s is over",
		    ERR_limit_exceeded },
		{ { .timeout_seconds = 4000 }, "r.timeout_seconds", ERR_limit_exceeded },
	};
	struct err e;

	(void)state;
	options.max_cpu_cores = 4;
	options.max_cpu_seconds = 10;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct limits limits = limits_default;
		int status = limits_ask(&limits, "r.", &cases[i].asked, &e);

		assert_int_equal(status, cases[i].says == NULL ? 0 : -1);
		if (cases[i].says != NULL) {
			assert_int_equal(e.code, cases[i].code);
			assert_non_null(strstr(e.text, cases[i].says));
		}
	}
}

static void
asks_in_units(void **state)
{
	const struct resource_limits asked = { .max_ram_mb = 64,
		.max_cpu_cores = 0.5,
		.timeout_seconds = 1.5,
		.max_cpu_seconds = 0.25,
		.max_disk_mb = 3,
		.max_files = 99 };
	struct limits limits = limits_default;
	struct resource_limits told;
	struct err e;

	(void)state;
	options.max_cpu_seconds = 0;
	assert_int_equal(limits_ask(&limits, "", &asked, &e), 0);
	assert_int_equal(limits.box.memory_bytes, 64 << 20);
	assert_int_equal(limits.box.cpu_milli, 500);
	assert_int_equal(limits.box.wall_ms, 1500);
	assert_int_equal(limits.box.cpu_ms, 250);
	assert_int_equal(limits.room.bytes, 3 << 20);
	assert_int_equal(limits.room.files, 99);
	assert_int_equal(limits.box.processes, 512);
	/* And are told in those of the message. */
	limits_tell(&limits, &told);
	assert_int_equal(told.max_ram_mb, 64);
	assert_int_equal(told.max_disk_mb, 3);
	assert_int_equal(told.max_files, 99);
	assert_int_equal(told.max_processes, 512);
	assert_true(told.timeout_seconds == 1.5 && told.max_cpu_seconds == 0.25);
	assert_true(told.max_cpu_cores == 0.5);
	/* A time too short to count is the shortest there is, not none. */
	assert_int_equal(limits_ask_seconds(&limits, "timeout", 0.0001, &e), 0);
	assert_int_equal(limits.box.wall_ms, 1);
	assert_int_equal(limits_ask_memory(&limits, "memory_limit", "9g", &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	assert_int_equal(limits_ask_memory(&limits, "memory_limit", "1m", &e), -1);
	assert_int_equal(e.code, ERR_invalid_argument);
}

static void
knows_old_names(void **state)
{
	static char memory[] = "SANDBOX_MEMORY_LIMIT=128m", timeout[] = "SANDBOXMCP_TIMEOUT=7",
		    minutes[] = "SANDBOX_SESSION_TTL_M=2",
		    imports[] = "SANDBOX_ALLOWED_IMPORTS=math, os",
		    network[] = "SANDBOX_ENABLE_NETWORK=false";
	char *environment[] = { memory, timeout, minutes, imports, network, NULL };
	struct err e;

	(void)state;
	assert_int_equal(read_defaults(environment, &e), 0);
	for (char **pair = environment; *pair != NULL; pair++) {
		char name[64];

		snprintf(name, sizeof name, "%s", *pair);
		name[strcspn(name, "=")] = 0;
		unsetenv(name);
	}
	assert_int_equal(limits_default.box.memory_bytes, 128 << 20);
	assert_int_equal(limits_default.box.wall_ms, 7000);
	assert_int_equal(options.session_ttl, 120);
	assert_int_equal(options_imports.count, 2);
	assert_string_equal(options_imports.items[1], "os");
	assert_int_equal(policy_check_profile("basic,network", language_python, &e), -1);
	assert_int_equal(e.code, ERR_denied);
}

static void
refuses_settings_that_contradict(void **state)
{
	static char memory[] = "CLOISTER_EXECUTOR_MEMORY_MB=4096",
		    cap[] = "CLOISTER_EXECUTOR_MAX_MEMORY_MB=1024";
	char *environment[] = { memory, cap, NULL };
	struct err e;

	(void)state;
	assert_int_equal(read_defaults(environment, &e), -1);
	unsetenv("CLOISTER_EXECUTOR_MEMORY_MB");
	unsetenv("CLOISTER_EXECUTOR_MAX_MEMORY_MB");
	assert_non_null(strstr(e.text, "memory_mb: 4096 is over max_memory_mb, which is 1024"));
}

static void
shares_memory_on_small_machines(void **state)
{
	static char memory[] = "CLOISTER_EXECUTOR_MEMORY_MB=8192";
	static char all[] = "CLOISTER_EXECUTOR_ALL_MEMORY_MB=1663";
	char *environment[] = { memory, NULL }, *too_little[] = { all, NULL };
	struct err e;
	int status;

	(void)state;
	/* Two boxes for one principal and two for others, 320 MiB above their memory each. */
	status = read_defaults(environment, &e);
	unsetenv("CLOISTER_EXECUTOR_MEMORY_MB");
	assert_int_equal(status, 0);
	assert_true(options.all_memory_mb >= 4 * (8192 + 320));
	status = read_defaults(too_little, &e);
	unsetenv("CLOISTER_EXECUTOR_ALL_MEMORY_MB");
	assert_int_equal(status, -1);
	assert_non_null(strstr(e.text, "832 MiB, which is over half of all_memory_mb (831)"));
}

/* The last: what is lowered stays so. */
static void
promises_no_more_files_than_it_may_have(void **state)
{
	char *environment[] = { NULL };
	struct err e;

	(void)state;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 300, 300 }), 0);
	assert_int_equal(read_defaults(environment, &e), 0);
	assert_int_equal(options.max_open_files, 300);
	assert_int_equal(limits_default.box.open_files, 256);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 100, 100 }), 0);
	assert_int_equal(read_defaults(environment, &e), 0);
	assert_int_equal(options.max_open_files, 100);
	assert_int_equal(limits_default.box.open_files, 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reads_sizes, defaults),
		cmocka_unit_test_setup(keeps_to_the_caps, defaults),
		cmocka_unit_test_setup(asks_in_units, defaults),
		cmocka_unit_test_setup(knows_old_names, defaults),
		cmocka_unit_test_setup(refuses_settings_that_contradict, defaults),
		cmocka_unit_test_setup(shares_memory_on_small_machines, defaults),
		cmocka_unit_test_setup(promises_no_more_files_than_it_may_have, defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
