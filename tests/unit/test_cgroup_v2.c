/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup_v2.c - a box's cgroup in version 2: in played files, and in the kernel's hierarchy
 * as far as that works without controllers. */
#include "executor/builder/limits/cgroup.h"

#include "common/base/auto.h"
#include "tests/unit/played_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#define CORE "cgroup.procs cgroup.threads cgroup.subtree_control cpu.stat"
#define MEMORY \
	" memory.max memory.swap.max memory.oom.group memory.current memory.peak" \
	" memory.events memory.stat hugetlb.2MB.max"
#define PIDS " pids.max pids.current pids.events"
#define CPU  " cpu.max cpu.weight"
#define OWN  "unified/own/"
#define OURS OWN "cloister-3/"

static const uint64_t limits = 1ull << LAYER_memory_limit | 1ull << LAYER_process_limit;
static const uint64_t cpu_limit = 1ull << LAYER_cpu_limit;

static int
begin(void **state)
{
	(void)state;
	played_begin();
	played_hierarchy(NULL, CORE MEMORY PIDS CPU);
	played_put(OWN "memory.max", "419430400\n");
	played_put(OWN "cpu.max", "100000 100000\n");
	return 0;
}

static int
end(void **state)
{
	(void)state;
	played_end();
	return 0;
}

/* The name of a file of a box, after the root's directory. */
static const char *
file_of(const struct cgroup *g, const char *name)
{
	static char path[4][128];
	static unsigned turn;
	char *text = path[turn++ % COUNT(path)];

	snprintf(text, sizeof path[0], OURS "%u%s%s", g->number, *name ? "/" : "", name);
	return text;
}

static void
assert_written(const struct cgroup *g, const char *const (*rows)[2], size_t count)
{
	char wanted[1024];
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += (size_t)snprintf(
		    wanted + n, sizeof wanted - n, "%s=%s\n", file_of(g, rows[i][0]), rows[i][1]);
	assert_string_equal(played_written(), wanted);
}

static void
test_all_boxes_are_limited(void **state)
{
	(void)state;
	played_open(LIMITS_CGROUP2);
	assert_string_equal(played_written(),
	    OWN "cgroup.subtree_control=+memory +pids\n" OWN "cgroup.subtree_control=+cpu\n" OWN
		"cgroup.subtree_control=+hugetlb\n" OURS
		"cgroup.subtree_control=+memory +pids\n" OURS "cgroup.subtree_control=+cpu\n" OURS
		"memory.max=314572800\n" OURS "pids.max=16384\n" OURS "cpu.weight=100\n" OURS
		"cpu.max=95000 100000\n" OURS "hugetlb.2MB.max=0\n");
	assert_true(cgroup_shares_processors());
}

static void
test_a_box_is_limited(void **state)
{
	static const char *const rows[][2] = {
		{ "memory.max", "76546048" },
		{ "memory.swap.max", "0" },
		{ "memory.oom.group", "1" },
		{ "pids.max", "8" },
		{ "cpu.max", "50000 100000" },
	};
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_written();
	played_make(&g);
	assert_written(&g, rows, COUNT(rows));
	assert_int_equal(g.wanted, limits | cpu_limit);
	assert_int_equal(g.in_force, limits | cpu_limit);
	assert_true(cgroup_remove(&g));
	assert_false(played_has(file_of(&g, "")));
}

static void
test_without_the_cpu_controller(void **state)
{
	struct cgroup g;

	(void)state;
	played_end();
	played_begin();
	played_hierarchy(NULL, CORE MEMORY PIDS);
	played_refuse(OWN "cgroup.subtree_control", "+cpu", EINVAL, 1);
	played_refuse(OURS "cgroup.subtree_control", "+cpu", EINVAL, 1);
	played_open(LIMITS_CGROUP2);
	assert_false(cgroup_shares_processors());
	played_make(&g);
	assert_int_equal(g.wanted, limits | cpu_limit);
	assert_int_equal(g.in_force, limits);
	assert_int_equal(g.why[LAYER_cpu_limit], ENOENT);
	assert_true(cgroup_remove(&g));
}

static void
test_a_refused_limit_is_not_in_force(void **state)
{
	struct cgroup g = { .number = 0 };

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	assert_true(cgroup_remove(&g));
	g.number++;
	played_refuse(file_of(&g, "pids.max"), "8", EINVAL, 1);
	played_make(&g);
	assert_int_equal(g.in_force, 1ull << LAYER_memory_limit | cpu_limit);
	assert_int_equal(g.why[LAYER_process_limit], EINVAL);
	assert_true(cgroup_remove(&g));
}

static void
test_another_limit_is_not_in_force(void **state)
{
	static const struct {
		const char *name, *text;
		enum layer layer;
	} rows[] = {
		{ "memory.max", "max", LAYER_memory_limit },
		{ "pids.max", "80", LAYER_process_limit },
		{ "cpu.max", "50000 1000000", LAYER_cpu_limit },
	};
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(cgroup_remove(&g));
		g.number++;
		played_replace(file_of(&g, rows[i].name), rows[i].text);
		played_make(&g);
		assert_int_equal(g.in_force, (limits | cpu_limit) & ~(1ull << rows[i].layer));
		assert_int_equal(g.why[rows[i].layer], 0);
	}
	assert_true(cgroup_remove(&g));
}

static void
test_the_nearest_that_delegates(void **state)
{
	(void)state;
	played_refuse(OWN "cgroup.subtree_control", "+memory +pids", ENOENT, 1);
	played_open(LIMITS_CGROUP2);
	assert_true(played_has("unified/cloister-3"));
	assert_false(played_has(OWN "cloister-3"));
}

static void
test_none_delegates(void **state)
{
	struct cgroup g;

	(void)state;
	played_refuse(OWN "cgroup.subtree_control", "+memory +pids", EACCES, 1);
	played_refuse("unified/cgroup.subtree_control", "+memory +pids", EACCES, 1);
	played_open(LIMITS_RLIMIT);
	assert_false(cgroup_shares_processors());
	played_make(&g);
	assert_int_equal(g.wanted, limits | cpu_limit);
	assert_int_equal(g.in_force, 0);
	assert_false(cgroup_is_over(&g));
}

/* ---- a cgroup with processes in it ---- */

static void
test_a_service_moves_down(void **state)
{
	char wanted[256];

	(void)state;
	snprintf(wanted, sizeof wanted, "%d\n%d\n", (int)getppid(), (int)getpid());
	played_put(OWN "cgroup.procs", wanted);
	played_refuse(OWN "cgroup.subtree_control", "+memory +pids", EBUSY, 1);
	played_open(LIMITS_CGROUP2);
	snprintf(wanted, sizeof wanted,
	    OWN "cgroup.subtree_control=+memory +pids\n" OWN "daemon/cgroup.procs=%d\n" OWN
		"daemon/cgroup.procs=%d\n" OWN "cgroup.subtree_control=+memory +pids\n",
	    (int)getppid(), (int)getpid());
	assert_int_equal(strncmp(played_written(), wanted, strlen(wanted)), 0);
}

static void
test_others_do_not_move(void **state)
{
	(void)state;
	played_put(OWN "cgroup.procs", "1\n2\n3\n");
	played_refuse(OWN "cgroup.subtree_control", "+memory +pids", EBUSY, 2);
	played_refuse("unified/cgroup.subtree_control", "+memory +pids", EBUSY, 1);
	played_open(LIMITS_RLIMIT);
	assert_false(played_has(OWN "daemon"));
}

static void
test_all_move_if_the_operator_says_so(void **state)
{
	(void)state;
	played_put(OWN "cgroup.procs", "1\n2\n3\n");
	played_refuse(OWN "cgroup.subtree_control", "+memory +pids", EBUSY, 1);
	cgroup_take_own();
	played_open(LIMITS_CGROUP2);
	assert_non_null(strstr(played_written(), OWN "daemon/cgroup.procs=3\n"));
}

/* ---- what is read ---- */

static void
test_counters(void **state)
{
	static const char *const rows[][2] = {
		{ "memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n" },
		{ "memory.peak", "4096\n" },
		{ "pids.events", "max 5\n" },
		{ "pids.current", "6\n" },
		{ "cpu.stat", "usage_usec 1234\nuser_usec 1000\n" },
		{ "cgroup.procs", "7\n8\n" },
		{ "cgroup.threads", "7\n8\n9\n" },
	};
	struct cgroup_use use;
	uint32_t processes, threads;
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	for (size_t i = 0; i < COUNT(rows); i++)
		played_put(file_of(&g, rows[i][0]), rows[i][1]);
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
		const char *used, *stat;
		bool over;
	} rows[] = {
		{ "67108864\n", "anon 67108865\n", false }, /* the sum is not looked at */
		{ "67108865\n", "anon 67108864\nfile 1000000\nkernel 0\n", false },
		{ "67108865\n", "anon 67108864\nfile 0\nkernel 1\n", true },
		{ "67108865\n", "anon 1\nkernel_stack 67108864\nkernel 1\n", false },
	};
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	for (size_t i = 0; i < COUNT(rows); i++) {
		played_put(file_of(&g, "memory.current"), rows[i].used);
		played_put(file_of(&g, "memory.stat"), rows[i].stat);
		assert_int_equal(cgroup_is_over(&g), rows[i].over);
	}
	assert_true(cgroup_remove(&g));
}

/* ---- joining and removal ---- */

static void
test_doors(void **state)
{
	struct err e = { 0 };
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	assert_int_equal(cgroup_open_doors(&g, true, &e), 0);
	assert_true(g.into >= 0);
	assert_int_equal(g.njoin, 0);
	cgroup_settle(&g);
	assert_int_equal(g.into, -1);
	assert_int_equal(cgroup_open_doors(&g, false, &e), 0);
	assert_int_equal(g.into, -1);
	assert_int_equal(g.njoin, 1);
	played_written();
	assert_int_equal(write(g.join[0], "0", 1), 1);
	assert_written(&g, (const char *const[][2]){ { "cgroup.procs", "0" } }, 1);
	cgroup_settle(&g);
	assert_true(cgroup_remove(&g));
	assert_int_equal(cgroup_open_doors(&g, false, &e), -1);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(cgroup_open_doors(&g, true, &e), -1);
	assert_string_equal(e.text, "open cgroup: No such file or directory");
}

static void
test_a_busy_one_is_removed_later(void **state)
{
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	played_keep(file_of(&g, ""));
	assert_false(cgroup_remove(&g));
	for (int i = 0; i < CGROUP_USES; i++)
		assert_int_equal(g.use[i], -1);
	played_keep(NULL);
	assert_true(cgroup_remove(&g));
	assert_true(cgroup_remove(&g)); /* it is gone */
}

static void
test_leftovers_are_removed(void **state)
{
	struct cgroup g;

	(void)state;
	played_open(LIMITS_CGROUP2);
	played_make(&g);
	played_keep(file_of(&g, ""));
	cgroup_close();
	assert_true(played_has(file_of(&g, "")));
	assert_false(cgroup_open(3)); /* a process that no builder left lives in it */
	played_keep(NULL);
	played_open(LIMITS_CGROUP2);
	assert_false(played_has(file_of(&g, "")));
}

static void
test_another_builder_has_the_slot(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/" OWN "cloister-3", played_base());
	assert_int_equal(mkdir(path, 0755), 0);
	auto_fd int other = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	assert_false(cgroup_open(3));
	assert_int_equal(cgroup_limits_by(), LIMITS_RLIMIT);
	assert_true(played_has(OWN "cloister-3"));
	assert_int_equal(flock(other, LOCK_UN), 0);
	assert_true(cgroup_open(3));
}

/* ---- the kernel's hierarchy ---- */

/* A process in the box's cgroup that sleeps. */
static pid_t
clone_into(const struct cgroup *g)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)g->into,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (child == 0)
		for (;;)
			pause();
	return child;
}

static pid_t
join(const struct cgroup *g)
{
	struct err e;
	pid_t child = fork();

	if (child == 0) {
		if (cgroup_join(g, &e) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	return child;
}

static bool
put(const char *directory, const struct cgroup *g, const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "%s/cloister-3/%u/%s", directory, g->number, name);
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, "1", 1) == 1;
}

static void
await_count(const struct cgroup *g, uint32_t wanted)
{
	uint32_t processes = 0, threads = 0;

	for (int i = 0; i < 500 && processes != wanted; i++) {
		usleep(10000);
		cgroup_count(g, &processes, &threads);
	}
	assert_int_equal(processes, wanted);
	assert_int_equal(threads, wanted);
}

/* Frozen, then killed as a whole: the kernel reaches those that joined, and only those. */
static void
use_kernel(const char *directory)
{
	struct err e = { 0 };
	struct cgroup g;
	int status;

	played_open(LIMITS_CGROUP2);
	played_make(&g);
	assert_int_equal(g.in_force, 0);
	assert_int_equal(g.why[LAYER_memory_limit], ENOENT);
	assert_int_equal(cgroup_open_doors(&g, true, &e), 0);
	pid_t first = clone_into(&g);
	cgroup_settle(&g);
	assert_int_equal(cgroup_open_doors(&g, false, &e), 0);
	pid_t second = join(&g);
	cgroup_settle(&g);
	assert_true(first > 0 && second > 0);
	await_count(&g, 2);
	assert_true(put(directory, &g, "cgroup.freeze"));
	assert_false(cgroup_remove(&g));
	assert_true(put(directory, &g, "cgroup.kill"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    waitpid(i == 0 ? first : second, &status, 0), i == 0 ? first : second);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	cgroup_end(&g);
	assert_true(cgroup_remove(&g));
	cgroup_close();
}

static void
test_the_kernels_hierarchy(void **state)
{
	char mounted[64], own[128];

	(void)state;
	snprintf(mounted, sizeof mounted, "%s/kernel", played_base());
	if (geteuid() != 0 || mkdir(mounted, 0755) < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("cgroup2", mounted, "cgroup2", 0, NULL) < 0)
		skip(); /* not root, or no right to mount it */
	snprintf(own, sizeof own, "%s/cloister-unit-%d", mounted, (int)getpid());
	assert_int_equal(mkdir(own, 0755), 0);
	played_kernel(own);
	use_kernel(own);
	assert_int_equal(rmdir(own), 0);
	assert_int_equal(umount2(mounted, MNT_DETACH), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_boxes_are_limited, begin, end),
		cmocka_unit_test_setup_teardown(test_a_box_is_limited, begin, end),
		cmocka_unit_test_setup_teardown(test_without_the_cpu_controller, begin, end),
		cmocka_unit_test_setup_teardown(test_a_refused_limit_is_not_in_force, begin, end),
		cmocka_unit_test_setup_teardown(test_another_limit_is_not_in_force, begin, end),
		cmocka_unit_test_setup_teardown(test_the_nearest_that_delegates, begin, end),
		cmocka_unit_test_setup_teardown(test_none_delegates, begin, end),
		cmocka_unit_test_setup_teardown(test_a_service_moves_down, begin, end),
		cmocka_unit_test_setup_teardown(test_others_do_not_move, begin, end),
		cmocka_unit_test_setup_teardown(test_counters, begin, end),
		cmocka_unit_test_setup_teardown(test_memory_without_files, begin, end),
		cmocka_unit_test_setup_teardown(test_doors, begin, end),
		cmocka_unit_test_setup_teardown(test_a_busy_one_is_removed_later, begin, end),
		cmocka_unit_test_setup_teardown(test_leftovers_are_removed, begin, end),
		cmocka_unit_test_setup_teardown(test_another_builder_has_the_slot, begin, end),
		cmocka_unit_test_setup_teardown(test_the_kernels_hierarchy, begin, end),
		/* The last: the operator's word holds for the life of a builder. */
		cmocka_unit_test_setup_teardown(test_all_move_if_the_operator_says_so, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
