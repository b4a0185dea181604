/* SPDX-License-Identifier: Apache-2.0 */
/* test_directory.c - a directory of credentials that is a mounted Secret: symlinks, and mode
 * 1777. */
#include "scratch.h"

#include "common/credential/directory.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static char base[] = "/tmp/directory-XXXXXX";
static char path[sizeof base + 5];
static int at = -1;
static char read_text[16];

static int
set_up(void **state)
{
	struct err e;

	(void)state;
	if (scratch_make(base) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/cred", base);
	at = fdio_directory(AT_FDCWD, path, 0700, &e);
	return at < 0 ? -1 : 0;
}

static int
tear_down(void **state)
{
	(void)state;
	close(at);
	return scratch_remove(base);
}

static int
take(const struct blob *file, struct err *e)
{
	(void)e;
	snprintf(read_text, sizeof read_text, "%s", file != NULL ? (char *)file->data : "none");
	return 0;
}

static struct directory_file tokens = { .name = "tokens", .limit = 100, .read = take };

static int
look(struct err *e)
{
	const struct directory directory = { at, geteuid() };

	return directory_look(&directory, &tokens, 1, e);
}

static void
store(const char *sub, const char *text)
{
	struct err e;

	assert_int_equal(mkdirat(at, sub, 0755), 0);
	auto_fd int inner = openat(at, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fdio_store(inner, "tokens", text, strlen(text), 0640, &e), 0);
}

/* tokens -> ..data/tokens for ever; the kubelet puts ..data -> ..2 in the place of ..data -> ..1.
 */
static void
sees_changes_behind_links(void **state)
{
	struct err e;

	(void)state;
	store("..1", "first");
	store("..2", "second");
	assert_int_equal(symlinkat("..1", at, "..data"), 0);
	assert_int_equal(symlinkat("..data/tokens", at, "tokens"), 0);
	if (look(&e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(read_text, "first");
	assert_int_equal(symlinkat("..2", at, "..next"), 0);
	assert_int_equal(renameat(at, "..next", at, "..data"), 0);
	assert_int_equal(look(&e), 0);
	assert_string_equal(read_text, "second");
	assert_int_equal(fchmodat(at, "..2/tokens", 0644, 0), 0);
	assert_int_equal(look(&e), -1);
	assert_int_equal(e.code, ERR_denied);
	assert_int_equal(unlinkat(at, "..data", 0), 0);
	assert_int_equal(look(&e), 0);
	assert_string_equal(read_text, "none");
}

static void
follows_no_link_out(void **state)
{
	struct err e;

	(void)state;
	store("../other", "foreign");
	assert_int_equal(symlinkat("../other/tokens", at, "tokens"), 0);
	strcpy(read_text, "before");
	assert_int_equal(look(&e), -1);
	assert_int_equal(e.code, ERR_path_not_allowed);
	assert_string_equal(read_text, "before");
	assert_int_equal(look(&e), 0); /* named once */
	assert_string_equal(read_text, "before");
}

/* 0: opened; 1: denied; 77: no mount to be had here. */
static int
open_mounted(unsigned long flags, uid_t as)
{
	struct directory directory;
	struct err e;

	if (unshare(CLONE_NEWNS | (geteuid() != 0 ? CLONE_NEWUSER : 0)) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", path, "tmpfs", 0, "mode=1777") < 0 ||
	    mount("none", path, NULL, MS_REMOUNT | flags, NULL) < 0)
		return 77;
	if (geteuid() == 0 && seteuid(as) < 0)
		return 77;
	return directory_open(path, "", &directory, &e) == 0 ? 0 : e.code == ERR_denied ? 1 : 2;
}

static void
a_directory_for_all_to_write_will_do_where_none_can(void **state)
{
	/* Of root, who would give it to the gateway's group, and of another who may not. */
	static const struct {
		unsigned long flags;
		uid_t as;
		int status;
	} rows[] = { { MS_RDONLY, 0, 0 }, { MS_RDONLY, 1000, 0 }, { 0, 0, 1 }, { 0, 1000, 1 } };

	(void)state;
	assert_int_equal(chmod(base, 0755), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(open_mounted(rows[i].flags, rows[i].as));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WEXITSTATUS(status) == 77) {
			print_message("needs a mount\n");
			skip();
		}
		assert_int_equal(WEXITSTATUS(status), rows[i].status);
	}
}

#define directory_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		directory_test(sees_changes_behind_links),
		directory_test(follows_no_link_out),
		directory_test(a_directory_for_all_to_write_will_do_where_none_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
