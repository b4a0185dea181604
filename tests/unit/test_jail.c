/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_jail.c - enters the jail in a child process: what is refused before, what remains after,
 * and that ZeroMQ works in it.
 */
#include "common/base/auto.h"
#include "common/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zmq.h>

#include <cmocka.h>

enum {
	NOBODY = 65534,
	SKIPPED = 77,
};

#ifdef SANITIZED
static const bool confined = false;
#else
static const bool confined = true;
#endif

static char directory[64];

static int
setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof directory, "/tmp/test-jail-XXXXXX");
	if (mkdtemp(directory) == NULL)
		return -1;
	return chmod(directory, 0777);
}

static int
teardown(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/socket", directory);
	unlink(path);
	snprintf(path, sizeof path, "%s/file", directory);
	unlink(path);
	return rmdir(directory);
}

/* Exit status of check(), in a child. */
static int
in_child(int (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check());
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static struct jail
ordinary(void)
{
	bool root = geteuid() == 0;

	return (struct jail){ .uid = root ? NOBODY : geteuid(),
		.gid = root ? NOBODY : getegid(),
		.open_files = 256 };
}

/* 0, or the line where it went wrong. */
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			return __LINE__ % 100 + 1; \
	} while (0)

static void *
sleep_long(void *unused)
{
	sleep(10);
	return unused;
}

static int
with_a_thread(void)
{
	struct jail jail = ordinary();
	struct jail_report r;
	pthread_t thread;
	struct err e;

	CHECK(pthread_create(&thread, NULL, sleep_long, NULL) == 0);
	CHECK(jail_enter(&jail, &r, &e) == -1);
	CHECK(strstr(e.text, "2 threads before the jail") != NULL);
	CHECK(!r.seccomp && !r.no_new_privs);
	return 0;
}

static void
a_second_thread_is_refused(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_a_thread), 0);
}

static int
as_root(void)
{
	struct jail jail = { .open_files = 256 };
	struct jail_report r;
	struct err e;

	CHECK(jail_enter(&jail, &r, &e) == -1);
	CHECK(strstr(e.text, "must not run as root") != NULL);
	return 0;
}

/* As a user of a large company's is. */
static int
in_many_groups(void)
{
	static gid_t groups[2000];
	struct jail_report r;
	struct jail jail;
	struct err e;

	for (size_t i = 0; i < COUNT(groups); i++)
		groups[i] = 1000000000 + (gid_t)i;
	CHECK(setgroups(COUNT(groups), groups) == 0);
	CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
	jail = ordinary();
	CHECK(jail_enter(&jail, &r, &e) == 0);
	CHECK(r.capabilities && r.no_new_privs && r.seccomp == confined);
	return 0;
}

static void
groups_may_be_many(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(in_child(in_many_groups), 0);
}

static int
with_root_kept(void)
{
	struct jail_report r;
	struct jail jail;
	struct err e;

	CHECK(setresuid(NOBODY, NOBODY, 0) == 0 && setresgid(getegid(), getegid(), getegid()) == 0);
	jail = ordinary();
	CHECK(jail_enter(&jail, &r, &e) == -1);
	CHECK(strstr(e.text, "is not the daemon's") != NULL);
	return 0;
}

static void
no_root_is_kept(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(in_child(with_root_kept), 0);
}

static void
root_stays_out(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(in_child(as_root), 0);
}

static int
with_all_files(void)
{
	struct jail jail = ordinary();
	struct jail_path root = { open("/", O_PATH | O_CLOEXEC), JAIL_READ };
	struct jail_report r;
	struct err e;

	jail.paths = &root;
	jail.npaths = 1;
	CHECK(jail_enter(&jail, &r, &e) == -1);
	CHECK(strstr(e.text, "must not get the whole file system") != NULL);
	return 0;
}

static void
the_whole_file_system_is_not_given(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_all_files), 0);
}

static int
look_around(void)
{
	struct jail jail = ordinary();
	bool root = geteuid() == 0;
	struct jail_report r;
	struct rlimit files, core;
	struct err e;

	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
	jail.syscalls = (const int[]){ SCMP_SYS(prlimit64), -1 };
	if (jail_enter(&jail, &r, &e) < 0)
		fprintf(stderr, "%s\n", e.text);
	CHECK(r.capabilities && r.no_new_privs);
	CHECK(r.uid == root);
	CHECK(r.seccomp == confined);
	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max == 256);
	CHECK(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0);
	return 0;
}

static void
the_report_is_what_the_kernel_shows(void **state)
{
	(void)state;
	assert_int_equal(in_child(look_around), 0);
}

static int
use_paths(void)
{
	struct jail jail = ordinary();
	auto_fd int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct jail_path path = { dir, JAIL_READ | JAIL_WRITE };
	struct jail_report r;
	struct err e;

	jail.paths = &path;
	jail.npaths = 1;
	jail.files = true;
	CHECK(jail_enter(&jail, &r, &e) == 0);
	if (!r.landlock)
		return SKIPPED;
	CHECK(openat(dir, "file", O_CREAT | O_RDWR | O_CLOEXEC, 0600) >= 0);
	CHECK(unlinkat(dir, "file", 0) == 0);
	CHECK(openat(dir, "../..", O_RDONLY | O_CLOEXEC) == -1 && errno == EACCES);
	CHECK(open("/etc/passwd", O_RDONLY | O_CLOEXEC) == -1 && errno == EACCES);
	CHECK(open("/dev/null", O_WRONLY | O_CLOEXEC) == -1 && errno == EACCES);
	return 0;
}

static void
only_its_paths_are_left(void **state)
{
	(void)state;
	if (in_child(use_paths) == SKIPPED)
		skip();
	assert_int_equal(in_child(use_paths), 0);
}

/* A server and a client in one jail; the context is from before, sockets and threads are not. */
static int
talk(unsigned access)
{
	struct jail jail = ordinary();
	auto_fd int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct jail_path path = { dir, access };
	struct jail_report r;
	char address[128], text[8] = "";
	void *context = zmq_ctx_new();
	struct err e;

	snprintf(address, sizeof address, "ipc://%s/socket", directory);
	jail.paths = &path;
	jail.npaths = 1;
	CHECK(jail_enter(&jail, &r, &e) == 0);
	void *server = zmq_socket(context, ZMQ_PAIR), *client = zmq_socket(context, ZMQ_PAIR);
	CHECK(server != NULL && client != NULL);
	if (zmq_bind(server, address) < 0)
		return errno == EACCES && r.landlock ? SKIPPED : 1;
	CHECK(zmq_connect(client, address) == 0);
	CHECK(zmq_send(client, "hello", 5, 0) == 5);
	CHECK(zmq_recv(server, text, sizeof text, 0) == 5 && memcmp(text, "hello", 5) == 0);
	CHECK(zmq_send(server, "there", 5, 0) == 5);
	CHECK(zmq_recv(client, text, sizeof text, 0) == 5 && memcmp(text, "there", 5) == 0);
	zmq_close(client);
	zmq_close(server);
	CHECK(zmq_ctx_term(context) == 0);
	return 0;
}

static int
talk_bound(void)
{
	return talk(JAIL_BIND);
}

static int
talk_unbound(void)
{
	return talk(JAIL_READ);
}

static void
zeromq_lives_in_the_jail(void **state)
{
	(void)state;
	assert_int_equal(in_child(talk_bound), 0);
	assert_int_equal(
	    in_child(talk_bound), 0); /* over the socket file that the first one left */
}

static void
a_directory_that_is_not_given_cannot_be_bound_in(void **state)
{
	(void)state;
	int status = in_child(talk_unbound);
	if (status == 0) /* a kernel without Landlock */
		skip();
	assert_int_equal(status, SKIPPED); /* the bind was refused */
}

static int
die_of(const int *refused)
{
	struct jail jail = ordinary();
	struct jail_report r;
	struct err e;

	jail.refused = refused;
	CHECK(jail_enter(&jail, &r, &e) == 0);
	CHECK(chdir("/") == -1 && errno == ENOENT);
	return 0;
}

static int
unlisted(void)
{
	return die_of(NULL);
}

static int
refused(void)
{
	return die_of((const int[]){ SCMP_SYS(chdir), -1 });
}

static void
an_unlisted_call_kills_and_a_refused_one_fails(void **state)
{
	(void)state;
	assert_int_equal(in_child(unlisted), 128 + SIGSYS);
	assert_int_equal(in_child(refused), 0);
}

#define jail_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	/* What only a build without sanitizers has stands last and is run there alone. */
	const struct CMUnitTest tests[] = {
		jail_test(a_second_thread_is_refused),
		jail_test(root_stays_out),
		cmocka_unit_test(groups_may_be_many),
		cmocka_unit_test(no_root_is_kept),
		jail_test(the_report_is_what_the_kernel_shows),
		jail_test(zeromq_lives_in_the_jail),
		jail_test(the_whole_file_system_is_not_given),
		jail_test(only_its_paths_are_left),
		jail_test(a_directory_that_is_not_given_cannot_be_bound_in),
		jail_test(an_unlisted_call_kills_and_a_refused_one_fails),
	};

	return _cmocka_run_group_tests(
	    "jail", tests, confined ? COUNT(tests) : COUNT(tests) - 4, NULL, NULL);
}
