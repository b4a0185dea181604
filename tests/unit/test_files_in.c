/* SPDX-License-Identifier: Apache-2.0 */
/* test_files_in.c - files and whole trees are written to a workspace exactly, or not at all. */
#include "hired.h"

#include "executor/builder/files/file_helper_io.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cmocka.h>

/* ---- one file ---- */

static void
a_file_is_there_wholly_or_not(void **state)
{
	struct workspace *w = *state;
	struct err e = hired_write(w, "a/b/c.txt", "one", false);
	struct stat st;

	assert_int_equal(e.code, ERR_none);
	e = hired_write(w, "a/b/c.txt", "two", false);
	hired_expect(&e, ERR_file_exists, "a/b/c.txt");
	e = hired_write(w, "a/b/c.txt", "three", true);
	assert_int_equal(e.code, ERR_none);
	struct outcome r = hired_read(w, "a/b/c.txt", 100);
	assert_int_equal(r.content.size, 5);
	assert_memory_equal(r.content.data, "three", 5);
	blob_clear(&r.content);
	assert_int_equal(fstatat(w->root, "a/b/c.txt", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);

	e = hired_write(w, "a/b", "x", true);
	hired_expect(&e, ERR_path_not_allowed, "a directory");
	e = hired_write(w, "a/b/c.txt/d/e", "x", true);
	hired_expect(&e, ERR_path_not_allowed, "part of its path is a file");
	e = hired_write(w, "empty/file", "", false);
	assert_int_equal(e.code, ERR_none);
	struct outcome o = hired_list(w, 100, 100);
	assert_int_equal(o.tree.count, 5);
	files_tree_clear(&o.tree);
}

static void
a_file_grows_by_pieces(void **state)
{
	struct workspace *w = *state;
	struct err e = hired_write(w, "f", "one", false);
	struct stat st;

	assert_int_equal(fchmodat(w->root, "f", 0600, 0), 0);
	e = hired_append(w, "f", "two", 3);
	assert_int_equal(e.code, ERR_none);
	e = hired_append(w, "f", "two", 3);
	hired_expect(&e, ERR_invalid_argument, "f has 6 bytes");
	e = hired_append(w, "f", "x", 7);
	hired_expect(&e, ERR_invalid_argument, "f has 6 bytes");
	e = hired_append(w, "f", "", 6);
	assert_int_equal(e.code, ERR_none);
	struct outcome r = hired_read(w, "f", 100);
	assert_int_equal(r.content.size, 6);
	assert_memory_equal(r.content.data, "onetwo", 6);
	blob_clear(&r.content);
	assert_int_equal(fstatat(w->root, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	e = hired_append(w, "none", "x", 1);
	hired_expect(&e, ERR_not_found, "none");
	assert_int_equal(mkdirat(w->root, "d", 0755), 0);
	e = hired_append(w, "d", "x", 1);
	hired_expect(&e, ERR_path_not_allowed, "a directory");
	assert_int_equal(symlinkat("f", w->root, "l"), 0);
	e = hired_append(w, "l", "x", 6);
	hired_expect(&e, ERR_path_not_allowed, "symbolic link");
	assert_int_equal(mkfifoat(w->root, "p", 0644), 0);
	e = hired_append(w, "p", "x", 1);
	hired_expect(&e, ERR_path_not_allowed, "FIFO");
}

static void
large_files_go_in_and_out(void **state)
{
	struct workspace *w = *state;
	enum { SIZE = 50 << 20 };
	struct blob content = { malloc(SIZE), SIZE };
	struct outcome o = { 0 };
	char before[HASH_HEX], after[HASH_HEX];

	for (size_t i = 0; i < SIZE; i++)
		((uint8_t *)content.data)[i] = (uint8_t)(i * 2654435761u >> 13);
	hash_hex(content.data, SIZE, before);
	files_write(w, "large", &content, false, hired_done, &o);
	hired_wait();
	assert_int_equal(o.e.code, ERR_none);
	o = hired_read(w, "large", SIZE);
	assert_int_equal(o.content.size, SIZE);
	hash_hex(o.content.data, SIZE, after);
	assert_string_equal(before, after);
	blob_clear(&o.content);
	o = hired_list(w, 1, SIZE);
	assert_string_equal(o.tree.items[0].sha256, before);
	files_tree_clear(&o.tree);
}

static void
a_used_up_quota_is_no_room(void **state)
{
	(void)state;
	assert_int_equal(file_helper_fault(EDQUOT), FILE_FRAME_NO_ROOM);
	assert_int_equal(file_helper_fault(ENOSPC), FILE_FRAME_NO_ROOM);
	assert_int_equal(file_helper_fault(ENFILE), FILE_FRAME_FAILED);
}

static void
a_full_workspace_stays_as_it_was(void **state)
{
	struct workspace *w = *state;
	struct blob content = { calloc(1, 3 << 20), 3 << 20 };
	struct outcome o = { 0 };

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", w->path, "tmpfs", 0, "size=2m,nr_inodes=10") < 0) {
		blob_clear(&content);
		print_message("needs a mount\n");
		skip();
	}
	close(w->root);
	w->root = open(w->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	files_write(w, "new/directory/big", &content, false, hired_done, &o);
	hired_wait();
	hired_expect(&o.e, ERR_disk_full, "limit of bytes or files");
	o = hired_list(w, 100, 100);
	assert_int_equal(o.tree.count, 0);
	hired_make_file(w, "piece", "0123");
	content = (struct blob){ calloc(1, 3 << 20), 3 << 20 };
	files_append(w, "piece", &content, 4, hired_done, &o);
	hired_wait();
	hired_expect(&o.e, ERR_disk_full, "limit of bytes or files");
	o = hired_read(w, "piece", 10);
	assert_int_equal(o.content.size, 4);
	blob_clear(&o.content);
	assert_int_equal(unlinkat(w->root, "piece", 0), 0);
	/* Who read it closes it when it likes. */
	for (struct statvfs fs = { 0 }; fs.f_ffree < 9;)
		assert_int_equal(statvfs(w->path, &fs), 0);
	for (int i = 0; i < 9; i++) {
		char name[] = "f0";

		name[1] = (char)('0' + i);
		hired_make_file(w, name, "x");
	}
	struct err e = hired_write(w, "f0", "y", true);
	hired_expect(&e, ERR_disk_full, "limit of bytes or files");
	o = hired_read(w, "f0", 10);
	assert_memory_equal(o.content.data, "x", 1);
	blob_clear(&o.content);
}

/* ---- whole trees ---- */

static struct {
	struct workspace *w;
	const char *contents[16];
	size_t wants;
	bool later, refuse;
} source;

static void
give(void *self)
{
	struct blob content = blob_text(source.contents[(uintptr_t)self]);
	const struct err why = { .code = ERR_snapshot_corrupt, .text = "its content is broken" };

	files_give(source.w, source.refuse ? NULL : &content, &why);
	blob_clear(&content);
}

static void
want(void *self, size_t entry)
{
	(void)self;
	source.wants++;
	if (source.later)
		loop_after(1, give, (void *)entry);
	else
		give((void *)entry);
}

static struct err
fill(struct workspace *w, struct tree_entry *entries, size_t count)
{
	struct outcome o = { 0 };

	source.w = w;
	source.wants = 0;
	files_fill(w, entries, count, want, hired_done, &o);
	hired_wait();
	return o.e;
}

#define DIRECTORY(p, m, t) \
	{ \
		.path = (char *)(uintptr_t)(p), .type = file_type_directory, .mode = m, \
		.mtime_ns = t \
	}
#define FILE_OF(p, m, t, s) \
	{ \
		.path = (char *)(uintptr_t)(p), .type = file_type_regular, .mode = m, \
		.mtime_ns = t, .size = s \
	}
#define LINK(p, t, to) \
	{ \
		.path = (char *)(uintptr_t)(p), .type = file_type_link, .mtime_ns = t, \
		.target = (char *)(uintptr_t)(to) \
	}

static void
a_filled_workspace_is_what_was_told(void **state)
{
	struct workspace *w = *state;
	struct tree_entry entries[] = {
		DIRECTORY("a", 0500, 1234567890123456789),
		FILE_OF("a/%FF%0A", 0444, -1, 5),
		DIRECTORY("a/b", 0, 17),
		FILE_OF("a/empty", 0600, 0, 0),
		LINK("a/link", 99, "../../%FFnowhere"),
		FILE_OF("z", 0, 4000000000000000001, 3),
	};

	source.contents[1] = "12345";
	source.contents[5] = "xyz";
	source.refuse = false;
	for (int round = 0; round < 2; round++) {
		source.later = round == 1;
		struct err e = fill(w, entries, COUNT(entries));
		assert_int_equal(e.code, ERR_none);
		assert_int_equal(source.wants, 2);
		if (geteuid() == 0) { /* who may list what nobody may read */
			struct outcome o = hired_list(w, 100, 100);
			assert_int_equal(o.tree.count, COUNT(entries));
			for (size_t i = 0; i < COUNT(entries); i++) {
				const struct tree_entry *now = &o.tree.items[i], *was = &entries[i];

				assert_string_equal(now->path, was->path);
				assert_int_equal(now->type, was->type);
				assert_int_equal(now->mtime_ns, was->mtime_ns);
				assert_int_equal(now->size, was->size);
				if (was->type == file_type_link)
					assert_string_equal(now->target, was->target);
				else
					assert_int_equal(now->mode, was->mode);
			}
			files_tree_clear(&o.tree);
		}
		hired_teardown(state);
		hired_setup(state);
		w = *state;
	}
}

#define HARD_LINK(p, f) \
	{ \
		.path = (char *)(uintptr_t)(p), .type = file_type_regular, .mode = 0644, \
		.size = 1, .same_as = (char *)(uintptr_t)(f) \
	}

static void
a_hard_link_is_a_name_of_a_filled_file(void **state)
{
	struct workspace *w = *state;
	struct tree_entry entries[] = {
		DIRECTORY("a", 0755, 0),
		HARD_LINK("a/%FF", "b"),
		FILE_OF("b", 0640, 17, 1),
	};
	struct stat one, two;

	source.contents[2] = "x";
	source.later = source.refuse = false;
	struct err e = fill(w, entries, COUNT(entries));
	assert_int_equal(e.code, ERR_none);
	assert_int_equal(source.wants, 1);
	assert_int_equal(fstatat(w->root, "a/\xff", &one, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(fstatat(w->root, "b", &two, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(one.st_ino, two.st_ino);
	assert_int_equal(one.st_nlink, 2);
	assert_int_equal(one.st_mtim.tv_nsec, 17);
}

/* A record of the store that lies makes no name of anything outside, or of what is no file. */
static void
a_hard_link_leads_nowhere_else(void **state)
{
	static const struct {
		const char *file;
		enum err_code code;
		const char *says;
	} cases[] = {
		{ "../x", ERR_path_not_allowed, "\"..\"" },
		{ "a/../../x", ERR_path_not_allowed, "\"..\"" },
		{ "/etc/passwd", ERR_path_not_allowed, "absolute" },
		{ "", ERR_path_not_allowed, "" },
		{ "missing", ERR_not_found, "" },
		{ "a/missing/b", ERR_not_found, "" },
		{ "a", ERR_path_not_allowed, "directory" },
		{ "old", ERR_path_not_allowed, "symbolic link" },
		{ "out/passwd", ERR_path_not_allowed, "symbolic link" },
		{ "pipe", ERR_path_not_allowed, "FIFO" },
	};
	struct workspace *w = *state;

	assert_int_equal(symlinkat("/etc/passwd", w->root, "old"), 0);
	assert_int_equal(symlinkat("/etc", w->root, "out"), 0);
	assert_int_equal(mkdirat(w->root, "a", 0755), 0);
	assert_int_equal(mkfifoat(w->root, "pipe", 0600), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tree_entry entry[] = { HARD_LINK("new", cases[i].file) };
		struct err e = fill(w, entry, 1);

		hired_expect(&e, cases[i].code, cases[i].says);
		assert_int_equal(faccessat(w->root, "new", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	}
}

static void
a_fill_that_fails_says_why(void **state)
{
	struct workspace *w = *state;
	struct tree_entry up[] = { FILE_OF("../x", 0644, 0, 0) };
	struct tree_entry absolute[] = { FILE_OF("/etc/x", 0644, 0, 0) };
	struct tree_entry through[] = { LINK("l", 0, "/tmp"),
		FILE_OF("l/cloister-outside", 0644, 0, 0) };
	struct tree_entry twice[] = { FILE_OF("x", 0644, 0, 0), FILE_OF("x", 0644, 0, 0) };
	struct tree_entry wrong[] = { FILE_OF("y", 0644, 0, 4) };
	struct err e = fill(w, up, 1);

	hired_expect(&e, ERR_path_not_allowed, "\"..\"");
	e = fill(w, absolute, 1);
	hired_expect(&e, ERR_path_not_allowed, "absolute");
	/* Files come first, so there is no link to go through: l is a directory, and the link
	 * fails.
	 */
	e = fill(w, through, 2);
	hired_expect(&e, ERR_file_exists, "");
	e = fill(w, twice, 2);
	hired_expect(&e, ERR_file_exists, "");
	source.contents[0] = "12345";
	for (int round = 0; round < 2; round++) {
		source.later = round == 1;
		source.refuse = false;
		e = fill(w, wrong, 1);
		hired_expect(&e, ERR_snapshot_corrupt, "y: received 5 bytes instead of 4");
		source.refuse = true;
		e = fill(w, wrong, 1);
		hired_expect(&e, ERR_snapshot_corrupt, "its content is broken");
	}
	assert_int_equal(access("/tmp/cloister-outside", F_OK), -1);
}

int
main(void)
{
#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, hired_setup, hired_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_PLACE(a_file_is_there_wholly_or_not),
		IN_A_PLACE(a_file_grows_by_pieces),
		IN_A_PLACE(large_files_go_in_and_out),
		cmocka_unit_test(a_used_up_quota_is_no_room),
		IN_A_PLACE(a_full_workspace_stays_as_it_was),
		IN_A_PLACE(a_filled_workspace_is_what_was_told),
		IN_A_PLACE(a_hard_link_is_a_name_of_a_filled_file),
		IN_A_PLACE(a_hard_link_leads_nowhere_else),
		IN_A_PLACE(a_fill_that_fails_says_why),
	};
	struct err e;

	if (loop_open(&e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	return cmocka_run_group_tests_name("files in", tests, NULL, NULL);
}
