/* SPDX-License-Identifier: Apache-2.0 */
/* test_file_helpers.c - the queue of a file helper, races against it, and file helpers that lie. */
#include "hired.h"
#include "late_clock.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"
#include "executor/builder/files/file_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

/* ---- while somebody changes it ---- */

static pid_t
racer(struct workspace *w, void (*step)(struct workspace *, int))
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (int i = 0;; i++)
		step(w, i);
}

static void
end_racer(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
swap_directory_and_link(struct workspace *w, int i)
{
	(void)i;
	renameat2(w->root, "d", w->root, "l", RENAME_EXCHANGE);
}

static void
a_race_wins_nothing(void **state)
{
	struct workspace *w = *state;
	char outside[] = "/tmp/cloister-canary-XXXXXX", canary[64];
	int wins = 0;

	assert_non_null(mkdtemp(outside));
	snprintf(canary, sizeof canary, "%s/f", outside);
	FILE *f = fopen(canary, "w");
	fputs("canary", f);
	fclose(f);
	assert_int_equal(mkdirat(w->root, "d", 0755), 0);
	hired_make_file(w, "d/f", "inside");
	assert_int_equal(symlinkat(outside, w->root, "l"), 0);

	pid_t pid = racer(w, swap_directory_and_link);

	for (int i = 0; i < 300; i++) {
		struct outcome r = hired_read(w, "d/f", 100);

		if (r.e.code == ERR_none) {
			assert_memory_equal(r.content.data, "inside", 6);
			wins++;
		}
		blob_clear(&r.content);
		hired_write(w, "d/new", "x", true);
		struct outcome o = hired_list(w, 100, 100);
		for (size_t k = 0; k < o.tree.count; k++)
			assert_true(o.tree.items[k].size != strlen("canary") ||
				    strstr(o.tree.items[k].path, "/new") == NULL);
		files_tree_clear(&o.tree);
	}
	end_racer(pid);
	assert_true(wins > 0);
	/* Nothing was written outside, nor removed. */
	snprintf(canary, sizeof canary, "%s/new", outside);
	assert_int_equal(access(canary, F_OK), -1);
	assert_int_equal(rmdir(outside), -1);
	snprintf(canary, sizeof canary, "%s/f", outside);
	assert_int_equal(unlink(canary), 0);
	assert_int_equal(rmdir(outside), 0);
}

static void
grow_and_shrink(struct workspace *w, int i)
{
	int fd = openat(w->root, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (ftruncate(fd, i % 7 * 100000) < 0)
		_exit(1);
	close(fd);
}

static void
a_changing_file_is_bounded(void **state)
{
	struct workspace *w = *state;

	hired_make_file(w, "f", "x");
	pid_t pid = racer(w, grow_and_shrink);
	for (int i = 0; i < 300; i++) {
		struct outcome r = hired_read(w, "f", 300000);

		assert_true(r.e.code == ERR_none || r.e.code == ERR_file_too_large);
		assert_true(r.content.size <= 300000);
		blob_clear(&r.content);
		struct outcome o = hired_list(w, 10, 300000);
		assert_int_equal(o.tree.count, 1);
		assert_true(o.tree.items[0].sha256 == NULL || o.tree.items[0].size <= 300000);
		files_tree_clear(&o.tree);
	}
	end_racer(pid);
}

/* ---- file helpers ---- */

static unsigned ends;

static void
one_ended(void *self, struct files_tree *tree, const struct err *e)
{
	size_t *count = self;

	assert_null(e);
	*count = tree->count;
	if (++ends == 3)
		loop_stop();
}

static void
operations_wait_in_line_for_one_file_helper(void **state)
{
	struct workspace *w = *state;
	struct outcome put_ = { 0 };
	size_t counts[3] = { 9, 9, 9 };
	struct blob content = blob_text("x");

	ends = 0;
	files_list(w, 10, 10, one_ended, &counts[0]);
	files_write(w, "one", &content, false, hired_done, &put_);
	files_list(w, 10, 10, one_ended, &counts[1]);
	files_list(w, 10, 10, one_ended, &counts[2]);
	while (ends < 3)
		hired_wait();
	assert_int_equal(counts[0], 0);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], 1);
	struct outcome o = hired_list(w, 10, 10);
	files_tree_clear(&o.tree);
	assert_int_equal(w->starts, 1);
	/* It goes home by itself. */
	hired_wait_ms(500);
	assert_int_equal(hired_living, 0);
}

static void
answer(int fd, struct file_frame_head head, const void *rest)
{
	static struct file_frame s;

	s.head = head;
	memcpy(s.rest, rest, head.path_size + head.tail_size);
	file_frame_send(fd, &s);
}

static int
wait_for_end(int fd)
{
	static struct file_frame s;

	while (file_frame_receive(fd, &s) > 0)
		;
	return 0;
}

static int
leaves_at_once(int fd, int root)
{
	(void)root;
	(void)fd;
	return 0;
}

static int
says_nothing(int fd, int root)
{
	(void)fd;
	(void)root;
	pause();
	return 0;
}

static int
speaks_garbage(int fd, int root)
{
	(void)root;
	for (size_t size = 1; size < 300; size += 7) {
		uint8_t bytes[300];

		memset(bytes, (int)size, sizeof bytes);
		send(fd, bytes, size, MSG_NOSIGNAL);
	}
	return wait_for_end(fd);
}

static int
climbs_up(int fd, int root)
{
	(void)root;
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_ENTRY, .path_size = 4 }, "../x");
	return wait_for_end(fd);
}

static int
names_twice(int fd, int root)
{
	(void)root;
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_ENTRY, .path_size = 1 }, "x");
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_ENTRY, .path_size = 1 }, "x");
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_DONE }, "");
	return wait_for_end(fd);
}

static int
never_ends(int fd, int root)
{
	struct file_frame_head head = { .kind = FILE_FRAME_ENTRY, .path_size = 8 };
	char name[16];

	(void)root;
	for (unsigned i = 0; i < 1000000; i++) {
		snprintf(name, sizeof name, "%08x", i);
		answer(fd, head, name);
		head.kind = FILE_FRAME_DATA;
		head.path_size = 0;
		head.tail_size = 8;
	}
	return wait_for_end(fd);
}

static int
lies_about_types(int fd, int root)
{
	(void)root;
	answer(fd,
	    (struct file_frame_head){ .kind = FILE_FRAME_ENTRY,
		.type = FILE_FRAME_DIRECTORY,
		.hashed = 1,
		.path_size = 1 },
	    "x");
	return wait_for_end(fd);
}

/* One inode for files that differ. */
static int
lies_about_inodes(int fd, int root)
{
	struct file_frame_head head = {
		.kind = FILE_FRAME_ENTRY, .hashed = 1, .inode = 7, .path_size = 1
	};

	(void)root;
	answer(fd, head, "x");
	head.digest[0] = 1;
	answer(fd, head, "y");
	head.size = 1;
	answer(fd, head, "z");
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_DONE }, "");
	return wait_for_end(fd);
}

static int
is_done_too_soon(int fd, int root)
{
	(void)root;
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_DONE }, "");
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_DONE }, "");
	return wait_for_end(fd);
}

static const char *claimed;

static int
claims_a_type(int fd, int root)
{
	struct file_frame_head head = { .kind = FILE_FRAME_DATA,
		.tail_size = (uint32_t)strlen(claimed) };

	(void)root;
	answer(fd, head, claimed);
	answer(fd, (struct file_frame_head){ .kind = FILE_FRAME_DONE }, "");
	return wait_for_end(fd);
}

/* A type goes into a statement that is signed and into a client's JSON. */
static void
a_type_has_the_form_of_one(void **state)
{
	struct workspace *w = *state;
	char too_long[200];
	const char *const claims[] = { "image", "/png", "image/", "image/png\ntime 1970",
		"image/p ng", "image/png; charset=x", "im\xc3\xa4ge/png", too_long };

	memset(too_long, 'a', sizeof too_long);
	memcpy(too_long + 50, "/", 1);
	too_long[sizeof too_long - 1] = 0;
	w->serve = claims_a_type;
	for (size_t i = 0; i < COUNT(claims); i++) {
		claimed = claims[i];
		struct outcome o = hired_type(w, "x");
		hired_expect(&o.e, ERR_internal, "invalid answers");
	}
	claimed = "image/svg+xml";
	assert_string_equal(hired_type(w, "x").type, claimed);
}

/* What differs is not one file, whatever the file helper says. */
static void
an_inode_alone_joins_nothing(void **state)
{
	struct workspace *w = *state;

	w->serve = lies_about_inodes;
	struct outcome o = hired_list(w, 100, 100);
	assert_int_equal(o.e.code, ERR_none);
	assert_int_equal(o.tree.count, 3);
	for (size_t i = 0; i < o.tree.count; i++)
		assert_null(o.tree.items[i].same_as);
	files_tree_clear(&o.tree);
}

static const struct {
	const char *name;
	int (*serve)(int, int);
	enum err_code list, read, write;
} liars[] = {
	{ "leaves at once", leaves_at_once, ERR_internal, ERR_internal, ERR_internal },
	{ "says nothing", says_nothing, ERR_deadline_exceeded, ERR_deadline_exceeded,
	    ERR_deadline_exceeded },
	{ "speaks garbage", speaks_garbage, ERR_internal, ERR_internal, ERR_internal },
	{ "climbs up", climbs_up, ERR_path_not_allowed, ERR_internal, ERR_internal },
	{ "names twice", names_twice, ERR_internal, ERR_internal, ERR_internal },
	{ "never ends", never_ends, ERR_internal, ERR_internal, ERR_internal },
	{ "lies about types", lies_about_types, ERR_internal, ERR_internal, ERR_internal },
	/* It may also have taken all that was sent to it, and then the claim is as good as any. */
	{ "is done too soon", is_done_too_soon, ERR_none, ERR_none, ERR_none },
};

static void
a_file_helper_that_lies_is_refused(void **state)
{
	struct workspace *w = *state;
	struct blob content;
	struct outcome o;

	hired_hurry = true;
	for (size_t i = 0; i < COUNT(liars); i++) {
		w->serve = liars[i].serve;
		o = hired_list(w, 10, 10);
		files_tree_clear(&o.tree);
		if (o.e.code != liars[i].list)
			fail_msg("%s: list: %s %s", liars[i].name, err_name(o.e.code), o.e.text);
		file_queue_leave(w);
		o = hired_read(w, "x", 100);
		blob_clear(&o.content);
		if (o.e.code != liars[i].read)
			fail_msg("%s: read: %s %s", liars[i].name, err_name(o.e.code), o.e.text);
		file_queue_leave(w);
		content = (struct blob){ calloc(1, 1 << 20), 1 << 20 };
		o = (struct outcome){ 0 };
		files_write(w, "x", &content, true, hired_done, &o);
		hired_wait();
		if (o.e.code != liars[i].write && liars[i].write != ERR_none)
			fail_msg("%s: write: %s %s", liars[i].name, err_name(o.e.code), o.e.text);
		file_queue_leave(w);
	}
	hired_hurry = false;
	w->serve = file_helper_serve;
	o = hired_list(w, 10, 10);
	assert_int_equal(o.e.code, ERR_none);
	files_tree_clear(&o.tree);
}

static int
never_begins(int fd, int root)
{
	(void)fd, (void)root;
	return 1;
}

/* The caller hears that something was short, as where the builder makes any other box. */
static void
a_file_helper_that_could_not_be_made_says_why(void **state)
{
	struct workspace *w = *state;
	const struct err died = hired_died;

	w->serve = never_begins;
	hired_died = (struct err){
		.code = ERR_internal, .sys = EMFILE, .text = "open: Too many open files"
	};

	struct outcome o = hired_list(w, 10, 10);

	hired_expect(&o.e, ERR_internal, "file helper ended: open: Too many");
	assert_int_equal(o.e.sys, EMFILE);
	hired_died = died;
}

/* ---- and others ---- */

/* However many file frames are there already: a program decides how long each takes. */
static void
file_frames_that_take_long_let_others_go_on(void **state)
{
	struct workspace *w = *state;
	char name[16];

	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "f%d", i);
		hired_make_file(w, name, "");
	}
	late_us = 1000;
	turns = 0;

	struct outcome o = hired_list(w, 100, 100);

	late_us = 0;
	assert_int_equal(o.tree.count, 50);
	files_tree_clear(&o.tree);
	assert_in_range(turns, 50, 10000);
}

int
main(void)
{
#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, hired_setup, hired_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_PLACE(a_race_wins_nothing),
		IN_A_PLACE(a_changing_file_is_bounded),
		IN_A_PLACE(operations_wait_in_line_for_one_file_helper),
		IN_A_PLACE(a_type_has_the_form_of_one),
		IN_A_PLACE(an_inode_alone_joins_nothing),
		IN_A_PLACE(a_file_helper_that_lies_is_refused),
		IN_A_PLACE(a_file_helper_that_could_not_be_made_says_why),
		IN_A_PLACE(file_frames_that_take_long_let_others_go_on),
	};
	struct err e;

	if (loop_open(&e) < 0 || loop_before_wait(count_turns, NULL, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	return cmocka_run_group_tests_name("file_helpers", tests, NULL, NULL);
}
