/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup_v1.c - a box's cgroups in version 1, in played files. */
#include "executor/builder/limits/cgroup.h"

#include "common/base/auto.h"
#include "tests/unit/played_cgroup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TCP "memory.kmem.tcp.limit_in_bytes"

static const uint64_t limits = 1ull << LAYER_memory_limit | 1ull << LAYER_process_limit;
static const uint64_t cpu_limit = 1ull << LAYER_cpu_limit;

static const struct hierarchy {
	const char *controller, *files;
} hierarchies[] = {
	{ "memory", "cgroup.procs tasks memory.limit_in_bytes memory.memsw.limit_in_bytes "
		    "memory.swappiness " TCP " memory.usage_in_bytes memory.max_usage_in_bytes "
		    "memory.oom_control memory.stat memory.kmem.usage_in_bytes" },
	{ "pids", "cgroup.procs tasks pids.max pids.current pids.events" },
	{ "cpu", "cgroup.procs tasks cpu.cfs_quota_us cpu.cfs_period_us cpu.shares" },
	{ "cpuacct", "cgroup.procs tasks cpuacct.usage" },
	{ "hugetlb", "cgroup.procs tasks hugetlb.2MB.limit_in_bytes" },
	{ NULL, "cgroup.procs cgroup.threads cgroup.subtree_control cpu.stat" },
};

/* Those without one controller; version 2's hierarchy is there, too, with no controllers. */
static void
begin_without(const char *controller)
{
	played_begin();
	for (size_t i = 0; i < COUNT(hierarchies); i++)
		if (hierarchies[i].controller == NULL || controller == NULL ||
		    strcmp(hierarchies[i].controller, controller) != 0)
			played_hierarchy(hierarchies[i].controller, hierarchies[i].files);
	if (played_has("memory"))
		played_put("memory/own/memory.limit_in_bytes", "419430400\n");
	played_refuse("unified/own/cgroup.subtree_control", "+memory +pids", ENOENT, 100);
	played_refuse("unified/cgroup.subtree_control", "+memory +pids", ENOENT, 100);
}

static int
end(void **state)
{
	(void)state;
	played_end();
	return 0;
}

/* The path of a box's file. */
static const char *
file_of(const struct cgroup *g, const char *controller, const char *name)
{
	static char path[4][128];
	static unsigned turn;
	char *text = path[turn++ % COUNT(path)];

	snprintf(text, sizeof path[0], "%s/own/cloister-3/%u%s%s", controller, g->number,
	    *name ? "/" : "", name);
	return text;
}

static void
assert_written(const struct cgroup *g, const char *const (*rows)[3], size_t count)
{
	char wanted[1024];
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += (size_t)snprintf(wanted + n, sizeof wanted - n, "%s=%s\n",
		    file_of(g, rows[i][0], rows[i][1]), rows[i][2]);
	assert_string_equal(played_written(), wanted);
}

static void
test_all_boxes_are_limited(void **state)
{
	(void)state;
	begin_without(NULL);
	played_put("cpu/own/cpu.cfs_quota_us", "100000\n");
	played_put("cpu/own/cpu.cfs_period_us", "100000\n");
	played_open(LIMITS_CGROUP1);
	assert_string_equal(played_written(),
	    "unified/own/cgroup.subtree_control=+memory +pids\n"
	    "unified/cgroup.subtree_control=+memory +pids\n"
	    "memory/own/cloister-3/memory.limit_in_bytes=314572800\n"
	    "pids/own/cloister-3/pids.max=16384\n"
	    "cpu/own/cloister-3/cpu.shares=1024\n"
	    "cpu/own/cloister-3/cpu.cfs_quota_us=95000\n"
	    "hugetlb/own/cloister-3/hugetlb.2MB.limit_in_bytes=0\n");
	assert_true(cgroup_shares_processors());
	assert_false(played_has("unified/own/cloister-3"));
}

static void
test_a_box_is_limited(void **state)
{
	static const char *const rows[][3] = {
		{ "memory", "memory.limit_in_bytes", "76546048" },
		{ "memory", "memory.memsw.limit_in_bytes", "76546048" },
		{ "memory", TCP, "67108864" },
		{ "pids", "pids.max", "8" },
		{ "cpu", "cpu.cfs_quota_us", "50000" },
	};
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_written();
	played_make(&g);
	assert_written(&g, rows, COUNT(rows));
	assert_int_equal(g.in_force, limits | cpu_limit);
	assert_int_equal(g.wanted, limits | cpu_limit);
	assert_true(cgroup_remove(&g));
	for (size_t i = 0; i < COUNT(hierarchies) - 1; i++)
		assert_false(played_has(file_of(&g, hierarchies[i].controller, "")));
}

/* ---- a missing controller ---- */

static void
test_without_a_needed_controller(void **state)
{
	static const char *const needed[] = { "memory", "pids" };

	(void)state;
	for (size_t i = 0; i < COUNT(needed); i++) {
		played_end();
		begin_without(needed[i]);
		played_open(LIMITS_RLIMIT);
		assert_false(played_has(i == 0 ? "pids/own/cloister-3" : "memory/own/cloister-3"));
	}
}

static void
test_without_the_cpu_controller(void **state)
{
	struct cgroup g;

	(void)state;
	begin_without("cpu");
	played_open(LIMITS_CGROUP1);
	assert_false(cgroup_shares_processors());
	played_make(&g);
	assert_int_equal(g.wanted, limits | cpu_limit);
	assert_int_equal(g.in_force, limits);
	assert_int_equal(g.why[LAYER_cpu_limit], ENOENT);
	assert_true(cgroup_remove(&g));
}

/* Version 2 counts in its place. */
static void
test_without_the_cpuacct_controller(void **state)
{
	struct cgroup_use use;
	struct err e = { 0 };
	struct cgroup g;

	(void)state;
	begin_without("cpuacct");
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	assert_int_equal(g.in_force, limits | cpu_limit);
	played_put(file_of(&g, "unified", "cpu.stat"), "usage_usec 1234\n");
	cgroup_read(&g, &use);
	assert_int_equal(use.cpu_us, 1234);
	assert_int_equal(cgroup_open_doors(&g, true, &e), 0);
	assert_true(g.into >= 0);
	assert_int_equal(g.njoin, 4);
	cgroup_settle(&g);
	assert_true(cgroup_remove(&g));
	assert_false(played_has(file_of(&g, "unified", "")));
}

/* ---- limits that do not hold ---- */

static void
test_without_swap_accounting(void **state)
{
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	assert_true(cgroup_remove(&g));
	g.number++;
	played_refuse(file_of(&g, "memory", "memory.memsw.limit_in_bytes"), "76546048", EINVAL, 1);
	played_written();
	played_make(&g);
	assert_non_null(strstr(played_written(), "memory.swappiness=0\n"));
	assert_int_equal(g.in_force, limits | cpu_limit);
	assert_true(cgroup_remove(&g));
}

static void
test_another_limit_is_not_in_force(void **state)
{
	static const struct {
		const char *controller, *name, *text;
		enum layer layer;
		int sys;
	} rows[] = {
		{ "memory", "memory.limit_in_bytes", "9223372036854771712", LAYER_memory_limit, 0 },
		{ "pids", "pids.max", "8", LAYER_process_limit, EINVAL },
		{ "cpu", "cpu.cfs_quota_us", "-1", LAYER_cpu_limit, 0 },
	};
	struct cgroup g;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		played_end();
		begin_without(NULL);
		played_open(LIMITS_CGROUP1);
		played_make(&g);
		assert_true(cgroup_remove(&g));
		g.number++;
		played_refuse(
		    file_of(&g, rows[i].controller, rows[i].name), rows[i].text, rows[i].sys, 1);
		played_make(&g);
		assert_int_equal(g.in_force, (limits | cpu_limit) & ~(1ull << rows[i].layer));
		assert_int_equal(g.why[rows[i].layer], rows[i].sys);
		assert_true(cgroup_remove(&g));
	}
}

/* ---- what is read ---- */

static void
test_counters(void **state)
{
	static const char *const rows[][3] = {
		{ "memory", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n" },
		{ "memory", "memory.max_usage_in_bytes", "4096\n" },
		{ "pids", "pids.events", "max 5\n" },
		{ "pids", "pids.current", "6\n" },
		{ "cpuacct", "cpuacct.usage", "1234567\n" },
		{ "pids", "cgroup.procs", "7\n8\n" },
		{ "pids", "tasks", "7\n8\n9\n" },
	};
	struct cgroup_use use;
	uint32_t processes, threads;
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	for (size_t i = 0; i < COUNT(rows); i++)
		played_put(file_of(&g, rows[i][0], rows[i][1]), rows[i][2]);
	cgroup_read(&g, &use);
	assert_true(use.out_of_memory);
	assert_int_equal(use.max_memory_bytes, 4096);
	assert_int_equal(use.refused, 5);
	assert_int_equal(use.processes, 6);
	assert_int_equal(use.cpu_us, 1234);
	cgroup_count(&g, &processes, &threads);
	assert_int_equal(processes, 2);
	assert_int_equal(threads, 3);
	assert_true(cgroup_remove(&g));
}

static void
test_memory_without_files(void **state)
{
	static const struct {
		const char *used, *stat, *kernel;
		bool over;
	} rows[] = {
		{ "67108864\n", "total_rss 67108865\n", "1\n", false },
		{ "67108865\n", "rss 67108865\ntotal_rss 67108864\n", "0\n", false },
		{ "67108865\n", "total_rss 67108864\n", "1\n", true },
	};
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	for (size_t i = 0; i < COUNT(rows); i++) {
		played_put(file_of(&g, "memory", "memory.usage_in_bytes"), rows[i].used);
		played_put(file_of(&g, "memory", "memory.stat"), rows[i].stat);
		played_put(file_of(&g, "memory", "memory.kmem.usage_in_bytes"), rows[i].kernel);
		assert_int_equal(cgroup_is_over(&g), rows[i].over);
	}
	assert_true(cgroup_remove(&g));
}

/* ---- joining and removal ---- */

static void
test_doors(void **state)
{
	static const char *const rows[][3] = {
		{ "memory", "tasks", "0" },
		{ "pids", "tasks", "0" },
		{ "cpu", "tasks", "0" },
		{ "cpuacct", "tasks", "0" },
		{ "hugetlb", "tasks", "0" },
	};
	struct err e = { 0 };
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	assert_int_equal(cgroup_open_doors(&g, true, &e), 0);
	assert_int_equal(g.into, -1);
	played_written();
	assert_int_equal(cgroup_join(&g, &e), 0);
	assert_written(&g, rows, COUNT(rows));
	cgroup_settle(&g);
	assert_int_equal(g.njoin, 0);
	assert_true(cgroup_remove(&g));
	assert_int_equal(cgroup_open_doors(&g, true, &e), -1);
	assert_string_equal(e.text, "open cgroup.procs: No such file or directory");
}

static void
test_a_busy_one_is_removed_later(void **state)
{
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	played_keep(file_of(&g, "pids", ""));
	assert_false(cgroup_remove(&g));
	assert_false(played_has(file_of(&g, "memory", "")));
	assert_true(played_has(file_of(&g, "pids", "")));
	played_keep(NULL);
	assert_true(cgroup_remove(&g));
}

static void
test_one_that_cannot_be_made(void **state)
{
	struct err e = { 0 };
	struct cgroup g;

	(void)state;
	begin_without(NULL);
	played_open(LIMITS_CGROUP1);
	played_make(&g);
	g.number++;
	played_put(file_of(&g, "cpu", ""), "in the way");
	assert_int_equal(cgroup_make(&g, &(struct order){ .processes = 1 }, 0, &e), -1);
	assert_int_equal(e.sys, EEXIST);
	assert_false(played_has(file_of(&g, "memory", "")));
	assert_false(played_has(file_of(&g, "pids", "")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_all_boxes_are_limited, end),
		cmocka_unit_test_teardown(test_a_box_is_limited, end),
		cmocka_unit_test_teardown(test_without_a_needed_controller, end),
		cmocka_unit_test_teardown(test_without_the_cpu_controller, end),
		cmocka_unit_test_teardown(test_without_the_cpuacct_controller, end),
		cmocka_unit_test_teardown(test_without_swap_accounting, end),
		cmocka_unit_test_teardown(test_another_limit_is_not_in_force, end),
		cmocka_unit_test_teardown(test_counters, end),
		cmocka_unit_test_teardown(test_memory_without_files, end),
		cmocka_unit_test_teardown(test_doors, end),
		cmocka_unit_test_teardown(test_a_busy_one_is_removed_later, end),
		cmocka_unit_test_teardown(test_one_that_cannot_be_made, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
