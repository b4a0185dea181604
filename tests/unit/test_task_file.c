/* SPDX-License-Identifier: Apache-2.0 */
/* test_task_file.c - tasks on the disk, and tasks whose process no longer exists. */
#include "executor/kept/task_file.h"

#include "common/base/auto.h"
#include "common/daemon/daemon.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct {
	char path[64], id[TASK_FILE_ID];
	struct owner owner;
	int directory;
	struct blob begun, ended;
} self;

static int
start(void **state)
{
	(void)state;
	snprintf(self.path, sizeof self.path, "/tmp/cloister-task-file-XXXXXX");
	if (mkdtemp(self.path) == NULL)
		return -1;
	self.owner = (struct owner){ "local:7", "" };
	self.directory = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	task_file_open(self.directory);
	memset(self.id, 'a', sizeof self.id - 1);
	self.begun = (struct blob){ (char *)"working", 7 };
	self.ended = (struct blob){ (char *)"completed", 9 };
	return 0;
}

static int
stop(void **state)
{
	char command[128];

	(void)state;
	close(self.directory);
	task_file_open(-1);
	snprintf(command, sizeof command, "rm -rf '%s'", self.path);
	return system(command);
}

static void
expect(const struct owner *owner, const char *text, bool lost)
{
	struct blob found = { 0 };
	struct err e;
	bool is_lost;
	int status = task_file_read(owner, self.id, 60000, &found, &is_lost, &e);

	assert_int_equal(status, text == NULL ? -1 : 0);
	if (text != NULL)
		assert_string_equal(found.data, text);
	assert_int_equal(is_lost, lost);
	blob_clear(&found);
}

static void
is_kept_from_beginning_to_end(void **state)
{
	struct err e;
	auto_fd int fd = task_file_begin(&self.owner, self.id, &self.begun, &e);

	(void)state;
	assert_true(fd >= 0);
	expect(&self.owner, "working", false);
	expect(&(struct owner){ "local:8", "" }, NULL, false);
	expect(&(struct owner){ "local:7", "n" }, NULL, false);
	assert_int_equal(task_file_end(&self.owner, self.id, &self.ended, &e), 0);
	expect(&self.owner, "working", false); /* its end counts when it is let go */
	close(take_fd(&fd));
	expect(&self.owner, "completed", false);
	assert_int_equal(task_file_begin(&self.owner, self.id, &self.begun, &e), -1);
}

static void
is_lost_with_who_ran_it(void **state)
{
	struct err e;
	int fd = task_file_begin(&self.owner, self.id, &self.begun, &e);

	(void)state;
	close(fd);
	expect(&self.owner, "working", true);
	assert_int_equal(task_file_end(&self.owner, self.id, &self.ended, &e), 0);
	expect(&self.owner, "completed", false);
}

static void
runs_as_long_as_another_process_lives(void **state)
{
	int ready[2], end[2], status;
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(ready) | pipe(end), 0);

	pid_t pid = fork();

	if (pid == 0) {
		struct err e;

		if (task_file_begin(&self.owner, self.id, &self.begun, &e) < 0 ||
		    write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	expect(&self.owner, "working", false);
	task_file_sweep(-2000);
	expect(&self.owner, "working", false);
	assert_int_equal(write(end[1], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	expect(&self.owner, "working", true);
	for (size_t i = 0; i < 2; i++) {
		close(ready[i]);
		close(end[i]);
	}
}

static void
is_removed_when_its_time_is_over(void **state)
{
	struct err e;
	size_t count;
	uint64_t bytes;
	int fd = task_file_begin(&self.owner, self.id, &self.begun, &e);

	(void)state;
	assert_int_equal(task_file_end(&self.owner, self.id, &self.ended, &e), 0);
	task_file_usage(&self.owner, &count, &bytes);
	assert_int_equal(count, 1);
	assert_true(bytes == 16);
	task_file_sweep(-2000); /* all that began until two seconds from now; this one still runs */
	expect(&self.owner, "working", false);
	close(fd);
	task_file_sweep(60000);
	expect(&self.owner, "completed", false);
	task_file_sweep(-2000);
	expect(&self.owner, NULL, false);
	task_file_usage(&self.owner, &count, &bytes);
	assert_int_equal(count + bytes, 0);
}

static void
reads_nothing_by_a_bad_id(void **state)
{
	static const char *const ids[] = { "", "..", "../../../../etc/passwd",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	struct blob found = { 0 };
	struct err e;
	bool lost;
	int fd = task_file_begin(&self.owner, self.id, &self.begun, &e);

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		assert_int_equal(task_file_read(&self.owner, ids[i], 60000, &found, &lost, &e), -1);
		assert_int_equal(e.code, ERR_not_found);
	}
	close(fd);
}

static void
is_not_read_when_its_time_is_over(void **state)
{
	struct blob found = { 0 };
	struct err e;
	bool lost;
	int fd = task_file_begin(&self.owner, self.id, &self.begun, &e);

	(void)state;
	usleep(1100000); /* times of files are compared by the second */
	assert_int_equal(task_file_read(&self.owner, self.id, 0, &found, &lost, &e), -1);
	assert_int_equal(e.code, ERR_not_found);
	expect(&self.owner, "working", false);
	task_file_drop(&self.owner, self.id);
	expect(&self.owner, NULL, false);
	close(fd);
}

static void
does_without_a_directory(void **state)
{
	struct err e;
	size_t count;
	uint64_t bytes;

	(void)state;
	task_file_open(-1);
	assert_int_equal(task_file_begin(&self.owner, self.id, &self.begun, &e), -1);
	assert_int_equal(e.code, ERR_unavailable);
	expect(&self.owner, NULL, false);
	task_file_usage(&self.owner, &count, &bytes);
	task_file_sweep(0);
	assert_int_equal(count, 0);
}

const char *
daemon_instance(void)
{
	return "1";
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_kept_from_beginning_to_end, start, stop),
		cmocka_unit_test_setup_teardown(is_lost_with_who_ran_it, start, stop),
		cmocka_unit_test_setup_teardown(runs_as_long_as_another_process_lives, start, stop),
		cmocka_unit_test_setup_teardown(is_removed_when_its_time_is_over, start, stop),
		cmocka_unit_test_setup_teardown(reads_nothing_by_a_bad_id, start, stop),
		cmocka_unit_test_setup_teardown(is_not_read_when_its_time_is_over, start, stop),
		cmocka_unit_test_setup_teardown(does_without_a_directory, start, stop),
	};

	return cmocka_run_group_tests_name("task_file", tests, NULL, NULL);
}
