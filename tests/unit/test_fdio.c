/* SPDX-License-Identifier: Apache-2.0 */
/* test_fdio.c - files that are written atomically, paths that stay inside a directory, and
 * descriptors passed over a socket. */
#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static char root[64]; /* of one test: a fresh directory */
static int dir;

static int
set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof root, "/tmp/test_fdio.XXXXXX");
	if (mkdtemp(root) == NULL)
		return -1;
	dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int
tear_down(void **state)
{
	(void)state;
	close(dir);
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
make_file(const char *name, const char *text)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void
stores_and_loads(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 1000000 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		auto_free char *data = malloc(sizes[i] + 1);
		struct blob b = { 0 };
		struct stat st;

		memset(data, (int)('a' + i), sizes[i]);
		assert_int_equal(fdio_store(dir, "file", data, sizes[i], 0640, &e), 0);
		assert_int_equal(fdio_load(dir, "file", sizes[i], &b, &e), 0);
		assert_int_equal(b.size, sizes[i]);
		assert_memory_equal(b.data, data, sizes[i]);
		assert_int_equal(((char *)b.data)[b.size], 0);
		blob_clear(&b);
		assert_int_equal(fstatat(dir, "file", &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0640);
		if (sizes[i] > 0) {
			assert_int_equal(fdio_load(dir, "file", sizes[i] - 1, &b, &e), -1);
			assert_int_equal(e.code, ERR_limit_exceeded);
			assert_null(b.data);
		}
	}
}

static int
count_drafts(void)
{
	auto_dir DIR *d = opendir(root);
	int n = 0;

	for (struct dirent *entry; (entry = readdir(d)) != NULL;)
		n += strncmp(entry->d_name, FDIO_DRAFT, strlen(FDIO_DRAFT)) == 0;
	return n;
}

static void
a_failed_store_leaves_nothing(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(mkdirat(dir, "taken", 0700), 0);
	make_file("taken/inside", "");
	assert_int_equal(fdio_store(dir, "taken", "x", 1, 0600, &e), -1);
	assert_int_equal(fdio_store(dir, "no/such/directory", "x", 1, 0600, &e), -1);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(count_drafts(), 0);
}

/* A reader sees the old bytes or the new, and a writer that is killed leaves one of them. */
static void
a_killed_store_leaves_a_whole_file(void **state)
{
	enum {
		SIZE = 100000,
	};
	auto_free char *data = malloc(SIZE);
	struct err e;

	(void)state;
	memset(data, 'a', SIZE);
	assert_int_equal(fdio_store(dir, "file", data, SIZE, 0600, &e), 0);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0)
			for (int c = 0;; c++) {
				memset(data, 'a' + c % 26, SIZE);
				fdio_store(dir, "file", data, SIZE, 0600, &e);
			}
		usleep(2000 + 500 * (useconds_t)i);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);

		struct blob b = { 0 };

		assert_int_equal(fdio_load(dir, "file", SIZE, &b, &e), 0);
		assert_int_equal(b.size, SIZE);
		memset(data, *(char *)b.data, SIZE);
		assert_memory_equal(b.data, data, SIZE);
		blob_clear(&b);
	}
	assert_true(count_drafts() <= 20);
}

static void
loads_only_regular_files(void **state)
{
	struct blob b = { 0 };
	struct err e;

	(void)state;
	make_file("target", "secret");
	assert_int_equal(symlinkat("target", dir, "link"), 0);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(mkdirat(dir, "directory", 0700), 0);
	assert_int_equal(fdio_load(dir, "link", 100, &b, &e), -1);
	assert_int_equal(e.code, ERR_path_not_allowed);
	assert_int_equal(fdio_load(dir, "fifo", 100, &b, &e), -1);
	assert_int_equal(e.code, ERR_path_not_allowed);
	assert_int_equal(fdio_load(dir, "directory", 100, &b, &e), -1);
	assert_int_equal(e.code, ERR_path_not_allowed);
	assert_int_equal(fdio_load(dir, "missing", 100, &b, &e), -1);
	assert_int_equal(e.code, ERR_not_found);
	assert_null(b.data);
}

/* Their size says 0, there and in cgroup directories. */
static void
loads_files_of_proc(void **state)
{
	auto_fd int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct blob b = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(fdio_load(proc, "smaps", 1 << 20, &b, &e), 0);
	assert_true(b.size > 4096);
	blob_clear(&b);
	assert_int_equal(fdio_load(proc, "smaps", 10, &b, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
}

static void
paths_stay_beneath(void **state)
{
	static const struct {
		const char *path;
		enum err_code code; /* none: it opens */
	} paths[] = {
		{ "a/file", ERR_none },
		{ "a/../a/file", ERR_none },
		{ "..", ERR_path_not_allowed },
		{ "a/../../etc/passwd", ERR_path_not_allowed },
		{ "/etc/passwd", ERR_path_not_allowed },
		{ "out/etc/passwd", ERR_path_not_allowed },
		{ "in", ERR_path_not_allowed },
		{ "in/x", ERR_path_not_allowed },
		{ "a/none", ERR_not_found },
		{ "a/file/none", ERR_not_found },
		{ "", ERR_not_found },
	};
	struct err e;

	(void)state;
	assert_int_equal(mkdirat(dir, "a", 0700), 0);
	make_file("a/file", "x");
	assert_int_equal(symlinkat("/", dir, "out"), 0);
	assert_int_equal(symlinkat("a", dir, "in"), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		auto_fd int fd = fdio_open_beneath(dir, paths[i].path, O_RDONLY, 0, &e);

		if ((fd >= 0) != (paths[i].code == ERR_none))
			fail_msg("%s: %d", paths[i].path, fd);
		if (fd < 0)
			assert_int_equal(e.code, paths[i].code);
		else
			assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	}

	auto_fd int made = fdio_open_beneath(dir, "a/new", O_WRONLY | O_CREAT | O_EXCL, 0600, &e);

	assert_true(made >= 0);
	assert_int_equal(fdio_write(made, "x", 1, &e), 0);
}

static void
makes_directories(void **state)
{
	struct stat st;
	struct err e;
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/x//y/z/", root);
	umask(077);
	for (int i = 0; i < 2; i++) {
		auto_fd int absolute = fdio_directory(AT_FDCWD, path, 02710, &e);
		auto_fd int relative = fdio_directory(dir, "x/y/z", 0700, &e);

		assert_true(absolute >= 0 && relative >= 0);
		assert_int_equal(fcntl(absolute, F_GETFD), FD_CLOEXEC);
		assert_int_equal(fstat(relative, &st), 0);
		assert_int_equal(st.st_mode & 07777, 02710); /* what is there keeps its mode */
	}
	assert_int_equal(fstatat(dir, "x", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 02710);
}

static void
directories_are_not_links(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(mkdirat(dir, "real", 0700), 0);
	assert_int_equal(symlinkat("real", dir, "link"), 0);
	make_file("file", "");
	assert_int_equal(fdio_directory(dir, "link", 0700, &e), -1);
	assert_int_equal(fdio_directory(dir, "file", 0700, &e), -1);
	assert_int_equal(fdio_directory(dir, "file/x", 0700, &e), -1);

	/* On the way a link is the system's affair, as /var/run is. */
	auto_fd int inside = fdio_directory(dir, "link/inside", 0700, &e);

	assert_true(inside >= 0);
}

static void
reads_and_writes_all(void **state)
{
	enum {
		SIZE = 1 << 20,
	};
	int ends[2];
	struct err e;
	auto_free char *data = malloc(SIZE), *back = malloc(SIZE);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	memset(data, 'p', SIZE);

	pid_t child = fork();

	if (child == 0) {
		close(ends[0]);
		_exit(fdio_write(ends[1], data, SIZE, &e) < 0);
	}
	close(ends[1]);
	assert_int_equal(fdio_read(ends[0], back, SIZE, &e), 0);
	assert_memory_equal(data, back, SIZE);
	assert_int_equal(fdio_read(ends[0], back, 1, &e), -1);
	assert_string_equal(e.text, "read: end of file after 0 of 1 bytes");
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ends[0]);
	assert_int_equal(fdio_read(ends[0], back, 1, &e), -1);
	assert_int_equal(e.sys, EBADF);
}

static int
open_descriptors(void)
{
	auto_dir DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d) != NULL)
		n++;
	return n;
}

static void
sends_descriptors(void **state)
{
	int pair[2], fds[8], before;
	size_t n = COUNT(fds);
	char data[8];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	before = open_descriptors();
	assert_int_equal(fdio_send(pair[0], "hello", 5, (int[]){ dir, 0, dir }, 3), 5);
	assert_int_equal(fdio_receive(pair[1], data, sizeof data, fds, &n, 0), 5);
	assert_memory_equal(data, "hello", 5);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		close(fds[i]);
	}
	assert_int_equal(fdio_receive(pair[1], data, sizeof data, NULL, NULL, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);

	/* More descriptors or bytes than there is room for: refused, and nothing stays open. */
	n = 1;
	assert_int_equal(fdio_send(pair[0], "hello", 5, (int[]){ dir, dir }, 2), 5);
	assert_int_equal(fdio_receive(pair[1], data, sizeof data, fds, &n, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(n, 0);
	assert_int_equal(fdio_send(pair[0], "hello", 5, (int[]){ dir }, 1), 5);
	assert_int_equal(fdio_receive(pair[1], data, sizeof data, NULL, NULL, 0), -1);
	n = COUNT(fds);
	assert_int_equal(fdio_send(pair[0], "too long for it", 15, (int[]){ dir }, 1), 15);
	assert_int_equal(fdio_receive(pair[1], data, sizeof data, fds, &n, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(open_descriptors(), before);

	close(pair[1]);
	assert_int_equal(fdio_send(pair[0], "x", 1, NULL, 0), -1); /* and no SIGPIPE */
	assert_int_equal(errno, EPIPE);
	close(pair[0]);
}

/* The message is told apart from one that is too long: who sent it can be told that it was lost. */
static void
receives_where_no_descriptor_is_free(void **state)
{
	int pair[2], fds[2];
	size_t n = COUNT(fds);
	char data[8] = "";
	struct rlimit was, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(fdio_send(pair[0], "hello", 5, (int[]){ dir, dir }, 2), 5);

	int last = dup(dir);

	/* One is free, and two come. */
	none = (struct rlimit){ (rlim_t)last + 1, was.rlim_max };
	close(last);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	ssize_t got = fdio_receive(pair[1], data, sizeof data, fds, &n, 0);
	int why = errno;

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(got, -1);
	assert_int_equal(why, EMFILE);
	assert_memory_equal(data, "hello", 5);
	assert_int_equal(n, 0);
	assert_int_equal(dup(dir), last); /* nothing stays open */
	close(last);
	close(pair[0]);
	close(pair[1]);
}

int
main(void)
{
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(stores_and_loads),
		IN_DIRECTORY(a_failed_store_leaves_nothing),
		IN_DIRECTORY(a_killed_store_leaves_a_whole_file),
		IN_DIRECTORY(loads_only_regular_files),
		IN_DIRECTORY(loads_files_of_proc),
		IN_DIRECTORY(paths_stay_beneath),
		IN_DIRECTORY(makes_directories),
		IN_DIRECTORY(directories_are_not_links),
		IN_DIRECTORY(reads_and_writes_all),
		IN_DIRECTORY(sends_descriptors),
		IN_DIRECTORY(receives_where_no_descriptor_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
