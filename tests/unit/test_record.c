/* SPDX-License-Identifier: Apache-2.0 */
/* test_record.c - what is kept of tasks, and whose gateway is gone. */
#include "gateway/task/record.h"

#include "common/base/auto.h"

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

#define ENDED "{\"status\":\"completed\"}"

static struct {
	char path[64], owner[RECORD_OWNER], id[RECORD_ID];
	int folder;
	json_t *begun;
} self;

static int
start(void **state)
{
	(void)state;
	snprintf(self.path, sizeof self.path, "/tmp/cloister-record-XXXXXX");
	if (mkdtemp(self.path) == NULL)
		return -1;
	self.folder = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	record_open(self.folder);
	record_owner("local:7", NULL, self.owner);
	record_id(self.id);
	self.begun = json_pack("{s:s}", "status", "working");
	return 0;
}

static int
stop(void **state)
{
	char command[128];

	(void)state;
	json_decref(self.begun);
	close(self.folder);
	record_open(-1);
	snprintf(command, sizeof command, "rm -rf '%s'", self.path);
	return system(command);
}

static void
expect(const char *owner, const char *status, bool lost)
{
	bool is_lost;
	json_t *value = record_read(owner, self.id, &is_lost);
	const char *its = json_string_value(json_object_get(value, "status"));

	if (status == NULL)
		assert_null(value);
	else
		assert_string_equal(its, status);
	assert_int_equal(is_lost, lost);
	json_decref(value);
}

static void
is_kept_from_beginning_to_end(void **state)
{
	struct err e;
	char other[RECORD_OWNER];
	auto_fd int fd = record_begin(self.owner, self.id, self.begun, &e);

	(void)state;
	assert_true(fd >= 0);
	expect(self.owner, "working", false);
	record_owner("local:8", NULL, other);
	expect(other, NULL, false);
	record_owner("local:7", "n", other);
	expect(other, NULL, false);
	assert_int_equal(record_end(self.owner, self.id, ENDED, &e), 0);
	expect(self.owner, "working", false); /* its end counts when it is let go */
	close(take_fd(&fd));
	expect(self.owner, "completed", false);
	assert_int_equal(record_begin(self.owner, self.id, self.begun, &e), -1);
}

static void
is_lost_with_who_ran_it(void **state)
{
	struct err e;
	int fd = record_begin(self.owner, self.id, self.begun, &e);

	(void)state;
	close(fd);
	expect(self.owner, "working", true);
	assert_int_equal(record_end(self.owner, self.id, ENDED, &e), 0);
	expect(self.owner, "completed", false);
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

		if (record_begin(self.owner, self.id, self.begun, &e) < 0 ||
		    write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	expect(self.owner, "working", false);
	record_sweep(-2000);
	expect(self.owner, "working", false);
	assert_int_equal(write(end[1], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	expect(self.owner, "working", true);
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
	int fd = record_begin(self.owner, self.id, self.begun, &e);

	(void)state;
	assert_int_equal(record_end(self.owner, self.id, ENDED, &e), 0);
	record_usage(self.owner, &count, &bytes);
	assert_int_equal(count, 1);
	assert_true(bytes > 20 && bytes < 100);
	record_sweep(-2000); /* all that began until two seconds from now; this one still runs */
	expect(self.owner, "working", false);
	close(fd);
	record_sweep(60000);
	expect(self.owner, "completed", false);
	record_sweep(-2000);
	expect(self.owner, NULL, false);
	record_usage(self.owner, &count, &bytes);
	assert_int_equal(count + bytes, 0);
}

static void
knows_its_own_ids_only(void **state)
{
	static const char *const ids[] = { "", "task_", "../../etc/passwd",
		"task_../../../../etc/passwd_aaaaaaaaaa", "task_0123456789ABCDEF0123456789ABCDEF",
		"task_0123456789abcdef0123456789abcde", "task_0123456789abcdef0123456789abcdef0",
		"Task_0123456789abcdef0123456789abcdef" };
	bool lost;

	(void)state;
	assert_true(record_is_id(self.id));
	for (size_t i = 0; i < COUNT(ids); i++) {
		assert_false(record_is_id(ids[i]));
		assert_null(record_read(self.owner, ids[i], &lost));
	}
}

static void
does_without_a_folder(void **state)
{
	struct err e;
	size_t count;
	uint64_t bytes;

	(void)state;
	record_open(-1);
	assert_int_equal(record_begin(self.owner, self.id, self.begun, &e), -1);
	assert_int_equal(e.code, ERR_unavailable);
	expect(self.owner, NULL, false);
	record_usage(self.owner, &count, &bytes);
	record_sweep(0);
	assert_int_equal(count, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_kept_from_beginning_to_end, start, stop),
		cmocka_unit_test_setup_teardown(is_lost_with_who_ran_it, start, stop),
		cmocka_unit_test_setup_teardown(runs_as_long_as_another_process_lives, start, stop),
		cmocka_unit_test_setup_teardown(is_removed_when_its_time_is_over, start, stop),
		cmocka_unit_test_setup_teardown(knows_its_own_ids_only, start, stop),
		cmocka_unit_test_setup_teardown(does_without_a_folder, start, stop),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
