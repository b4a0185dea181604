/* SPDX-License-Identifier: Apache-2.0 */
/* test_order.c - the builder trusts no number of an order; layers in the form that clients read. */
#include "executor/sandbox/builder_link.h"
#include "executor/sandbox/isolation.h"

#include "common/base/auto.h"
#include "executor/builder/containers.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct order good[] = {
	{ .kind = ORDER_WORKSPACE, .id = 1, .bytes = 1 << 20, .files = 100 },
	{ .kind = ORDER_WIPE, .id = ORDER_MAX_LIVING },
	{ .kind = ORDER_BOX,
	    .id = 1,
	    .workspace = 1,
	    .memory_bytes = 64 << 20,
	    .tmp_bytes = 1 << 20,
	    .processes = 1,
	    .open_files = 64 },
	{ .kind = ORDER_FILE_HELPER, .id = 1, .workspace = 1, .memory_bytes = 64 << 20 },
	{ .kind = ORDER_KILL, .id = 7 },
	{ .kind = ORDER_PROGRAM, .id = 2, .box = 1, .zygote = 1 },
	{ .kind = ORDER_CLOCK, .id = 1, .wall_ms = 30000, .cpu_ms = 1000 },
	{ .kind = ORDER_SIGNAL, .id = 2, .signal = SIGINT },
	{ .kind = ORDER_WORKSPACE, .id = 1, .adopt = 1, .bytes = 1 << 20, .files = 100 },
	{ .kind = ORDER_CLEAR },
	{ .kind = ORDER_COUNT, .id = 1 },
	{ .kind = ORDER_SIGNAL, .id = 2, .signal = SIGURG },
	{ .kind = ORDER_MOUNT, .id = 3, .box = 1, .workspace = 1 },
	{ .kind = ORDER_MOUNT,
	    .id = ORDER_MAX_LIVING,
	    .box = ORDER_MAX_LIVING,
	    .workspace = ORDER_MAX_LIVING,
	    .place = ORDER_NODE_MODULES },
	{ .kind = ORDER_MOUNT, .id = 3, .box = 1, .place = ORDER_USER_BASE },
	{ .kind = ORDER_TRUST, .id = 3, .box = 1 },
};
static const size_t descriptors[] = { 0, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };

static void
takes_what_the_executor_sends(void **state)
{
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(order_check(&good[i], descriptors[i], &e), 0);
}

static void
counts_descriptors(void **state)
{
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		for (size_t n = 0; n <= ORDER_MAX_FDS; n++)
			if (n != descriptors[i]) {
				assert_int_equal(order_check(&good[i], n, &e), -1);
				assert_non_null(strstr(e.text, "descriptors"));
			}
}

#define BAD(which, field, value, says) \
	{ \
		which, offsetof(struct order, field), sizeof(((struct order *)0)->field), value, \
		    says \
	}
static const struct {
	size_t order, offset, size;
	uint64_t value;
	const char *says;
} bad[] = {
	BAD(0, kind, 0, "kind"),
	BAD(0, kind, ORDER_CLEAR + 1, "kind"),
	BAD(0, kind, UINT32_MAX, "kind"),
	BAD(0, id, 0, "id"),
	BAD(0, id, ORDER_MAX_LIVING + 1, "id"),
	BAD(4, id, UINT32_MAX, "id"),
	BAD(6, cpu_ms, UINT64_MAX, "cpu_ms"),
	BAD(0, bytes, 0, "bytes"),
	BAD(0, bytes, UINT64_MAX, "bytes"),
	BAD(8, adopt, 2, "adopt"),
	BAD(8, bytes, 0, "bytes"),
	BAD(0, files, 1, "files"),
	BAD(0, files, 1ull << 32, "files"),
	BAD(2, workspace, 0, "workspace"),
	BAD(3, workspace, ORDER_MAX_LIVING + 1, "workspace"),
	BAD(5, box, 0, "box"),
	BAD(5, box, ORDER_MAX_LIVING + 1, "box"),
	BAD(5, runtime, ORDER_MAX_RUNTIMES, "runtime"),
	BAD(5, runtime, UINT32_MAX, "runtime"),
	BAD(5, zygote, ORDER_MAX_ZYGOTES + 1, "zygote"),
	BAD(5, alone, 2, "alone"),
	BAD(7, signal, 0, "signal"),
	BAD(7, signal, SIGSTOP, "signal"),
	BAD(2, memory_bytes, 0, "memory_bytes"),
	BAD(2, memory_bytes, UINT64_MAX, "memory_bytes"),
	BAD(2, tmp_bytes, 0, "tmp_bytes"),
	BAD(2, cpu_milli, 1000001, "cpu_milli"),
	BAD(2, processes, 0, "processes"),
	BAD(2, processes, 4097, "processes"),
	BAD(2, open_files, 0, "open_files"),
	BAD(2, open_files, UINT64_MAX, "open_files"),
	BAD(6, wall_ms, UINT64_MAX, "wall_ms"),
	BAD(3, memory_bytes, 0, "memory_bytes"),
	BAD(12, id, 0, "id"),
	BAD(12, box, 0, "box"),
	BAD(12, box, ORDER_MAX_LIVING + 1, "box"),
	BAD(12, workspace, 0, "workspace"),
	BAD(12, workspace, ORDER_MAX_LIVING + 1, "workspace"),
	BAD(12, place, ORDER_PLACES, "place"),
	BAD(13, place, UINT32_MAX, "place"),
	BAD(14, box, 0, "box"),
	BAD(2, environment, ORDER_MAX_ENVIRONMENTS, "environment"),
	BAD(2, environment, UINT32_MAX, "environment"),
};

static void
names_what_is_out_of_bounds(void **state)
{
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct order order = good[bad[i].order];

		memcpy((char *)&order + bad[i].offset, &bad[i].value, bad[i].size);
		if (order_check(&order, descriptors[bad[i].order], &e) == 0 ||
		    strstr(e.text, bad[i].says) == NULL)
			fail_msg("%s = %llu: \"%s\"", bad[i].says, (unsigned long long)bad[i].value,
			    e.text);
	}
}

static void
every_layer_and_step_has_a_name(void **state)
{
	(void)state;
	for (int l = 0; l < LAYER_COUNT; l++)
		assert_non_null(layer_name((enum layer)l));
	for (int s = 0; s < STEP_COUNT; s++)
		assert_non_null(step_name((enum step)s));
	assert_true(layer_needed(LAYER_seccomp) && layer_needed(LAYER_no_capabilities));
	assert_false(layer_needed(LAYER_landlock));
}

static bool
is_in(const struct texts *texts, const char *start)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strncmp(texts->items[i], start, strlen(start)) == 0)
			return true;
	return false;
}

static void
isolation_says_what_is_missing_and_why(void **state)
{
	struct layers layers = {
		.in_force = 1ull << LAYER_seccomp,
		.wanted = 1ull << LAYER_seccomp | 1ull << LAYER_landlock |
		          1ull << LAYER_memory_limit | 1ull << LAYER_own_uid |
		          1ull << LAYER_private_proc,
		.limits_by = LIMITS_RLIMIT,
	};
	struct isolation isolation;

	(void)state;
	layers.why[LAYER_landlock] = EOPNOTSUPP;
	assert_int_equal(isolation_of(&layers, &isolation), 0);
	assert_string_equal(isolation.backend, "box");
	assert_string_equal(isolation.limits_by, "rlimit");
	assert_int_equal(isolation.layers.count, 1);
	assert_string_equal(isolation.layers.items[0], "seccomp");
	assert_int_equal(isolation.missing.count, LAYER_COUNT - 1);
	assert_true(is_in(&isolation.missing, "landlock: Operation not supported"));
	assert_true(is_in(&isolation.missing, "memory limit: no cgroup"));
	assert_true(is_in(&isolation.missing, "own uid: not started as root"));
	assert_true(is_in(&isolation.missing, "private /proc: not verified"));
	assert_true(is_in(&isolation.missing, "own loopback: loopback=false"));
	message_clear(MSG_isolation, &isolation);
}

static void
isolation_of_a_container_says_what_it_never_has(void **state)
{
	struct layers layers = {
		.in_force = 1ull << LAYER_seccomp,
		.wanted = 1ull << LAYER_seccomp | 1ull << LAYER_private_tmp,
		.limits_by = LIMITS_CGROUP2,
		.container = CONTAINER_crun,
	};
	struct isolation isolation;

	(void)state;
	assert_int_equal(isolation_of(&layers, &isolation), 0);
	assert_string_equal(isolation.backend, "oci");
	assert_true(is_in(&isolation.layers, "crun"));
	assert_int_equal(isolation.missing.count, LAYER_COUNT - 1);
	assert_true(is_in(&isolation.missing, "landlock: a container of crun has none"));
	assert_true(is_in(&isolation.missing, "landlock scopes: a container of crun has none"));
	assert_true(is_in(&isolation.missing, "private /tmp: not verified"));
	message_clear(MSG_isolation, &isolation);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_the_executor_sends),
		cmocka_unit_test(counts_descriptors),
		cmocka_unit_test(names_what_is_out_of_bounds),
		cmocka_unit_test(every_layer_and_step_has_a_name),
		cmocka_unit_test(isolation_says_what_is_missing_and_why),
		cmocka_unit_test(isolation_of_a_container_says_what_it_never_has),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
