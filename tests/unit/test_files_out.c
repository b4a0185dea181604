/* SPDX-License-Identifier: Apache-2.0 */
/* test_files_out.c - how a hostile tree appears from outside, and which parts can be read. */
#include "hired.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"
#include "executor/builder/media.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cmocka.h>

static void
a_tree_is_told_whole(void **state)
{
	struct workspace *w = *state;
	char digest[HASH_HEX];

	hired_make_file(w, "b.txt", "hello");
	hired_make_file(w, "empty", "");
	assert_int_equal(mkdirat(w->root, "a", 0750), 0);
	hired_make_file(w, "a/z", "z");
	hired_make_file(w, "a-b", "not in a");
	assert_int_equal(symlinkat("/etc/shadow", w->root, "shadow"), 0);
	assert_int_equal(fchmodat(w->root, "b.txt", 04755, 0), 0);
	const struct timespec times[2] = { { 1, 2 }, { -5, 7 } };
	assert_int_equal(utimensat(w->root, "b.txt", times, 0), 0);

	struct outcome o = hired_list(w, 100, 1 << 20);
	static const char *const paths[] = { "a", "a-b", "a/z", "b.txt", "empty", "shadow" };

	assert_int_equal(o.tree.count, COUNT(paths));
	for (size_t i = 0; i < COUNT(paths); i++)
		assert_string_equal(o.tree.items[i].path, paths[i]);
	assert_int_equal(o.tree.items[0].type, file_type_directory);
	assert_int_equal(o.tree.items[0].mode, 0750);
	assert_int_equal(o.tree.items[3].type, file_type_regular);
	assert_int_equal(o.tree.items[3].mode, 0755);
	assert_int_equal(o.tree.items[3].size, 5);
	assert_int_equal(o.tree.items[3].mtime_ns, -4999999993);
	hash_hex("hello", 5, digest);
	assert_string_equal(o.tree.items[3].sha256, digest);
	hash_hex("", 0, digest);
	assert_string_equal(o.tree.items[4].sha256, digest);
	assert_int_equal(o.tree.items[5].type, file_type_link);
	assert_string_equal(o.tree.items[5].target, "/etc/shadow");
	assert_null(o.tree.items[5].sha256);
	assert_false(o.tree.truncated);
	assert_int_equal(o.tree.skipped.count, 0);
	files_tree_clear(&o.tree);
}

static void
an_empty_tree_is_empty(void **state)
{
	struct outcome o = hired_list(*state, 100, 1 << 20);

	assert_int_equal(o.e.code, ERR_none);
	assert_int_equal(o.tree.count, 0);
}

static void
any_name_is_told_and_read(void **state)
{
	static const char *const names[] = { "new\nline", "tab\tand \x1b[31mescape", "\xff\xfe",
		"quote\"'\\`$(x);", "-rf", " ", "100%", "na\xc3\xafve", "...",
		"bidi\xe2\x80\xaeoverride" };
	struct workspace *w = *state;
	char longest[256];

	memset(longest, 'n', 255);
	longest[255] = 0;
	hired_make_file(w, longest, longest);
	for (size_t i = 0; i < COUNT(names); i++)
		hired_make_file(w, names[i], names[i]);

	struct outcome o = hired_list(w, 100, 1 << 20);

	assert_int_equal(o.tree.count, COUNT(names) + 1);
	for (size_t i = 0; i < o.tree.count; i++) {
		struct outcome r = hired_read(w, o.tree.items[i].path, 1000);
		bool known = false;

		assert_int_equal(r.e.code, ERR_none);
		for (size_t k = 0; k < COUNT(names); k++)
			known |= strlen(names[k]) == r.content.size &&
			         memcmp(names[k], r.content.data, r.content.size) == 0;
		assert_true(known || r.content.size == 255);
		blob_clear(&r.content);
	}
	files_tree_clear(&o.tree);
}

static void
what_is_no_file_is_named_and_left(void **state)
{
	struct workspace *w = *state;
	struct sockaddr_un_ {
		sa_family_t family;
		char path[100];
	} at = { .family = AF_UNIX };
	auto_fd int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifoat(w->root, "pipe", 0666), 0);
	snprintf(at.path, sizeof at.path, "%s/socket", w->path);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	hired_make_file(w, "file", "x");

	struct outcome o = hired_list(w, 100, 1 << 20);

	assert_int_equal(o.tree.count, 1);
	assert_int_equal(o.tree.skipped.count, 2);
	assert_non_null(strstr(o.tree.skipped.items[0], "FIFO"));
	assert_null(o.tree.lost); /* there was nothing to lose */
	assert_int_equal(o.tree.nleft_out, 2);
	assert_int_equal(o.tree.left_out.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct left_out *one = &o.tree.left_out.items[i];

		assert_int_equal(
		    one->kind, strcmp(one->path, "pipe") == 0 ? special_fifo : special_socket);
	}
	files_tree_clear(&o.tree);

	struct outcome r = hired_read(w, "pipe", 1000);
	hired_expect(&r.e, ERR_path_not_allowed, "pipe: is a FIFO");
	r = hired_read(w, "socket", 1000);
	hired_expect(&r.e, ERR_path_not_allowed, "socket: is a FIFO");
}

/* One file is told once, and its other names refer to the shortest. */
static void
names_of_one_file_are_joined(void **state)
{
	struct workspace *w = *state;

	assert_int_equal(mkdirat(w->root, "a", 0755), 0);
	hired_make_file(w, "a/long", "x");
	assert_int_equal(linkat(w->root, "a/long", w->root, "d", 0), 0);
	assert_int_equal(linkat(w->root, "a/long", w->root, "e", 0), 0);

	struct outcome o = hired_list(w, 100, 1 << 20);

	assert_int_equal(o.tree.count, 4); /* a, a/long, d, e */
	for (size_t i = 0; i < 4; i++)
		if (i == 1 || i == 3)
			assert_string_equal(o.tree.items[i].same_as, "d");
		else
			assert_null(o.tree.items[i].same_as);
	files_tree_clear(&o.tree);
	/* Without a digest nothing is known to be the same. */
	o = hired_list(w, 100, 0);
	for (size_t i = 0; i < o.tree.count; i++)
		assert_null(o.tree.items[i].same_as);
	files_tree_clear(&o.tree);
}

static void
links_are_not_followed(void **state)
{
	static const char *const paths[] = { "artifact.txt", "self", "out/passwd", "in/file",
		"loop", "up" };
	struct workspace *w = *state;

	assert_int_equal(mkdirat(w->root, "directory", 0755), 0);
	hired_make_file(w, "directory/file", "inside");
	assert_int_equal(symlinkat("/etc/shadow", w->root, "artifact.txt"), 0);
	assert_int_equal(symlinkat("/proc/self/environ", w->root, "self"), 0);
	assert_int_equal(symlinkat("/etc", w->root, "out"), 0);
	assert_int_equal(symlinkat("directory", w->root, "in"), 0);
	assert_int_equal(symlinkat("loop", w->root, "loop"), 0);
	assert_int_equal(symlinkat("../../../etc/passwd", w->root, "up"), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct outcome r = hired_read(w, paths[i], 1 << 20);

		hired_expect(&r.e, ERR_path_not_allowed, "symbolic link");
	}
	struct err e = hired_write(w, "out/written", "x", true);
	hired_expect(&e, ERR_path_not_allowed, "symbolic link");
	e = hired_write(w, "in/written", "x", true);
	hired_expect(&e, ERR_path_not_allowed, "symbolic link");
	/* The link itself is a name like any other: replaced, never written through. */
	e = hired_write(w, "artifact.txt", "mine", false);
	hired_expect(&e, ERR_file_exists, "artifact.txt");
	e = hired_write(w, "artifact.txt", "mine", true);
	assert_int_equal(e.code, ERR_none);
	struct outcome r = hired_read(w, "artifact.txt", 100);
	assert_memory_equal(r.content.data, "mine", 4);
	blob_clear(&r.content);
}

static void
what_cannot_be_read_is_told(void **state)
{
	struct workspace *w = *state;
	struct outcome r = hired_read(w, "absent", 10);

	hired_expect(&r.e, ERR_not_found, "absent: there is no such file");
	hired_make_file(w, "file", "0123456789");
	r = hired_read(w, "file/below", 10);
	hired_expect(&r.e, ERR_path_not_allowed, "part of its path is a file");
	r = hired_read(w, "file", 9);
	hired_expect(&r.e, ERR_file_too_large, "file: larger than 9 bytes");
	r = hired_read(w, "file", 10);
	assert_int_equal(r.content.size, 10);
	blob_clear(&r.content);
	assert_int_equal(mkdirat(w->root, "directory", 0755), 0);
	r = hired_read(w, "directory", 10);
	hired_expect(&r.e, ERR_path_not_allowed, "directory: is a directory");
	r = hired_read(w, "../etc/passwd", 10);
	hired_expect(&r.e, ERR_path_not_allowed, "\"..\"");
}

static void
lists_are_bounded(void **state)
{
	struct workspace *w = *state;

	for (int i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%d", i);
		hired_make_file(w, name, "0123456789");
	}
	struct outcome o = hired_list(w, 3, 1 << 20);
	assert_int_equal(o.tree.count, 3);
	assert_true(o.tree.truncated);
	files_tree_clear(&o.tree);

	o = hired_list(w, 10, 9);
	assert_int_equal(o.tree.count, 10);
	assert_false(o.tree.truncated);
	for (size_t i = 0; i < 10; i++) {
		assert_null(o.tree.items[i].sha256);
		assert_int_equal(o.tree.items[i].size, 10);
	}
	files_tree_clear(&o.tree);
}

/* A size is not a number of bytes. */
static void
sparse_giants_are_not_read(void **state)
{
	struct workspace *w = *state;
	auto_fd int fd = openat(w->root, "giant", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	int64_t before = loop_now_ms();
	struct outcome o = hired_list(w, 10, 1 << 20);
	assert_int_equal(o.tree.items[0].size, 1ll << 40);
	assert_null(o.tree.items[0].sha256);
	files_tree_clear(&o.tree);
	struct outcome r = hired_read(w, "giant", 50 << 20);
	hired_expect(&r.e, ERR_file_too_large, "giant");
	assert_true(loop_now_ms() - before < 5000);
}

static void
holes_are_not_read(void **state)
{
	struct workspace *w = *state;
	int fd = openat(w->root, "hollow", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_int_equal(pwrite(fd, "end", 3, 100 << 20), 3);
	close(fd);
	assert_int_equal(linkat(w->root, "hollow", w->root, "again", 0), 0);
	fd = openat(w->root, "some", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(pwrite(fd, "end", 3, 1 << 20), 3);
	close(fd);
	struct outcome o = hired_list(w, 10, 256 << 20);
	assert_int_equal(o.tree.count, 3);
	assert_null(o.tree.items[0].sha256);
	assert_null(o.tree.items[1].sha256);
	assert_int_equal(o.tree.items[1].size, (100 << 20) + 3);
	assert_non_null(o.tree.items[2].sha256);
	files_tree_clear(&o.tree);
}

static void
pieces_are_read(void **state)
{
	struct workspace *w = *state;
	static const struct {
		uint64_t offset, length, limit;
		const char *text; /* NULL: too large */
	} cases[] = {
		{ 0, 0, 10, "0123456789" },
		{ 0, 0, 9, NULL },
		{ 1, 0, 9, "123456789" },
		{ 3, 4, 1, "3456" },
		{ 8, 100, 100, "89" },
		{ 10, 0, 10, "" },
		{ 1000, 5, 10, "" },
		{ INT64_MAX, 0, 10, "" },
	};

	hired_make_file(w, "f", "0123456789");
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct files_piece piece = { cases[i].offset, cases[i].length, cases[i].limit, 0 };
		struct outcome o = hired_read_piece(w, "f", &piece);

		if (cases[i].text == NULL) {
			hired_expect(&o.e, ERR_file_too_large, "offset and length");
			continue;
		}
		assert_int_equal(o.e.code, ERR_none);
		assert_int_equal(o.content.size, strlen(cases[i].text));
		assert_memory_equal(o.content.data, cases[i].text, o.content.size);
		assert_int_equal(piece.total, 10);
		blob_clear(&o.content);
	}
}

static void
types_are_told_by_what_is_there(void **state)
{
	struct workspace *w = *state;
	static const struct {
		const char *name, *text, *type;
	} cases[] = {
		{ "gif", "GIF89a\x01", "image/gif" },
		{ "jpeg", "\xff\xd8\xff\xe0", "image/jpeg" },
		{ "page.png", "<!DOCTYPE html><html>", "text/html" },
		{ "page.csv", "a,b\n<html><script>", "text/html" },
		{ "drawing", "<svg xmlns=\"http://www.w3.org/2000/svg\">", "image/svg+xml" },
		{ "paper", "%PDF-1.7\n", "application/pdf" },
		{ "script", "#!/bin/sh\n", "text/x-shellscript" },
		{ "table.csv", "a,b\n1,2\n", "text/plain" },
		{ "words", "gr\xc3\xbc\xc3\x9f dich\n", "text/plain" },
		{ "noise", "\x01\x02\x80\xff", "application/octet-stream" },
	};
	char cut[9000];

	for (size_t i = 0; i < COUNT(cases); i++) {
		hired_make_file(w, cases[i].name, cases[i].text);
		struct outcome o = hired_type(w, cases[i].name);
		assert_int_equal(o.e.code, ERR_none);
		assert_string_equal(o.type, cases[i].type);
	}
	/* The first bytes end within a character. */
	for (size_t i = 0; i < sizeof cut - 1; i++)
		cut[i] = i < 2 ? 'y' : "x\xe2\x82\xac"[(i - 2) % 4];
	cut[sizeof cut - 1] = 0;
	hired_make_file(w, "cut", cut);
	assert_string_equal(hired_type(w, "cut").type, "text/plain");
	assert_int_equal(mkfifoat(w->root, "pipe", 0666), 0);
	assert_int_equal(symlinkat("gif", w->root, "link"), 0);
	struct outcome o = hired_type(w, "pipe");
	hired_expect(&o.e, ERR_path_not_allowed, "FIFO");
	o = hired_type(w, "link");
	hired_expect(&o.e, ERR_path_not_allowed, "symbolic link");
	o = hired_type(w, "none");
	hired_expect(&o.e, ERR_not_found, "none");
}

static void
hard_links_are_files_each(void **state)
{
	struct workspace *w = *state;

	hired_make_file(w, "one", "same");
	assert_int_equal(linkat(w->root, "one", w->root, "two", 0), 0);
	struct outcome o = hired_list(w, 10, 100);
	assert_int_equal(o.tree.count, 2);
	assert_string_equal(o.tree.items[0].sha256, o.tree.items[1].sha256);
	files_tree_clear(&o.tree);
}

/* Deeper than any path can say: made by going down step by step. */
static void
depth_ends_where_paths_end(void **state)
{
	struct workspace *w = *state;
	int at = dup(w->root);

	for (int i = 0; i < 3000; i++) {
		assert_int_equal(mkdirat(at, "d", 0755), 0);
		int inner = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(inner >= 0);
		close(at);
		at = inner;
	}
	close(at);
	struct outcome o = hired_list(w, 100000, 100);
	assert_int_equal(o.e.code, ERR_none);
	assert_int_equal(o.tree.count, 2048);
	assert_int_equal(o.tree.skipped.count, 1);
	assert_non_null(strstr(o.tree.skipped.items[0], "too long"));
	assert_string_equal(o.tree.lost, o.tree.skipped.items[0]);
	files_tree_clear(&o.tree);
}

static void
many_files_are_told(void **state)
{
	struct workspace *w = *state;
	enum { MANY = 20000 };

	for (int i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%d", i);
		close(openat(w->root, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	}
	struct outcome o = hired_list(w, 100000, 100);
	assert_int_equal(o.tree.count, MANY);
	for (size_t i = 1; i < MANY; i++)
		assert_true(strcmp(o.tree.items[i - 1].path, o.tree.items[i].path) < 0);
	files_tree_clear(&o.tree);
	o = hired_list(w, 1000, 100);
	assert_int_equal(o.tree.count, 1000);
	assert_true(o.tree.truncated);
	files_tree_clear(&o.tree);
}

int
main(void)
{
#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, hired_setup, hired_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_PLACE(a_tree_is_told_whole),
		IN_A_PLACE(an_empty_tree_is_empty),
		IN_A_PLACE(any_name_is_told_and_read),
		IN_A_PLACE(what_is_no_file_is_named_and_left),
		IN_A_PLACE(names_of_one_file_are_joined),
		IN_A_PLACE(links_are_not_followed),
		IN_A_PLACE(what_cannot_be_read_is_told),
		IN_A_PLACE(lists_are_bounded),
		IN_A_PLACE(sparse_giants_are_not_read),
		IN_A_PLACE(holes_are_not_read),
		IN_A_PLACE(pieces_are_read),
		IN_A_PLACE(types_are_told_by_what_is_there),
		IN_A_PLACE(hard_links_are_files_each),
		IN_A_PLACE(depth_ends_where_paths_end),
		IN_A_PLACE(many_files_are_told),
	};
	struct err e;

	media_open();
	if (loop_open(&e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	return cmocka_run_group_tests_name("files out", tests, NULL, NULL);
}
