/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csv_file.c - the checker of CSV files (executor/guest/csv): its report is that of
 * csv_check() on the same text, with little memory, and a hostile workspace gives an error.
 */
#include "executor/guest/csv/job.h"

#include "validator/csv/charset.h"
#include "validator/csv/csv.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/codec/wire.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	OUT_BYTES = 1 << 20,
	LARGE = 60 << 20,
#ifdef SANITIZED
	ANON_KB = 512 << 10, /* it keeps what was freed */
#else
	ANON_KB = 16 << 10,
#endif
};

#define SECRET "sk-0123456789-abcdef"

static char place[] = "/tmp/test_csv_file.XXXXXX";

static int
set_up(void **state)
{
	(void)state;
	charset_open();
	return mkdtemp(place) == NULL || chdir(place) < 0 || mkdir("d", 0755) < 0 ||
	               symlink("d", "way") < 0 || symlink("t.csv", "link") < 0 ||
	               mkfifo("fifo", 0644) < 0
	           ? -1
	           : 0;
}

static int
tear_down(void **state)
{
	static const char *const names[] = { "t.csv", "job", "out", "link", "way", "fifo" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		unlink(names[i]);
	return rmdir("d") < 0 || chdir("/") < 0 || rmdir(place) < 0 ? -1 : 0;
}

static void
write_file(const char *name, const void *data, size_t size)
{
	auto_fd int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err e;

	assert_true(fd >= 0);
	assert_int_equal(fdio_write(fd, data, size, &e), 0);
}

static void
put_part(FILE *to, const void *data, size_t size)
{
	uint64_t number = size;

	fwrite(&number, sizeof number, 1, to);
	fwrite(data, 1, size, to);
}

static struct validate_csv_data
request(const char *rules)
{
	return (struct validate_csv_data){
		.type_constraints = rules != NULL ? blob_text(rules) : (struct blob){ 0 },
		.has_header = true,
		.statistics = true,
		.max_errors = 9,
	};
}

static struct blob
flat(enum msg_id id, void *message)
{
	struct packed packed;
	struct blob bytes;
	struct err e;

	assert_int_equal(wire_encode(id, message, &packed, &e), 0);
	assert_int_equal(wire_flatten(&packed, &bytes, &e), 0);
	packed_clear(&packed);
	return bytes;
}

static void
write_job(const char *path, const char *rules, const char *secret)
{
	struct validate_csv_data ask = request(rules);
	struct blob bytes = flat(MSG_validate_csv_data, &ask);
	FILE *to = fopen("job", "we");

	put_part(to, path, strlen(path));
	put_part(to, bytes.data, bytes.size);
	if (secret != NULL)
		put_part(to, secret, strlen(secret));
	assert_int_equal(fclose(to), 0);
	blob_clear(&bytes);
	message_clear(MSG_validate_csv_data, &ask);
}

static pid_t
start(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	dup2(open("job", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), STDOUT_FILENO);
	execl(CLOISTER_CSV, CLOISTER_CSV, NULL);
	_exit(127);
}

/* The exit status; *out: what it wrote. */
static int
finish(pid_t pid, struct blob *out)
{
	int status;
	struct err e;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(fdio_load(AT_FDCWD, "out", OUT_BYTES, out, &e), 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
expect_report(const char *text, size_t size, const char *rules, const struct blob *out)
{
	struct validate_csv_data ask = request(rules);
	struct csv_report report = { 0 };
	struct blob bytes = { (void *)(uintptr_t)text, size }, want;
	struct err e;

	assert_int_equal(csv_check_bytes(&ask, &bytes, &report, &e), 0);
	want = flat(MSG_csv_report, &report);
	assert_int_equal(out->size, want.size);
	assert_memory_equal(out->data, want.data, want.size);
	blob_clear(&want);
	message_clear(MSG_csv_report, &report);
	message_clear(MSG_validate_csv_data, &ask);
}

static void
reports_as_the_validator(void **state)
{
	static const struct {
		const char *text, *rules;
	} tried[] = {
		{ "id,name\n1,ann\nx,\xc3\xa9\n2,\n", "{\"id\": \"int\"}" },
		{ "\xef\xbb\xbfsep=;\r\na;b\r\n\"1\r\n\";2\r\n1;2;3\r\nTotal;2\r\n", NULL },
		{ "a\n1\n1\n2\n", "{\"a\": {\"unique\": true}, \"b\": \"int\"}" },
		{ "a,b\n\xe9t\xe9,1\n", NULL },
		{ "", NULL },
	};
	struct blob out;

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		write_file("t.csv", tried[i].text, strlen(tried[i].text));
		write_job("t.csv", tried[i].rules, NULL);
		assert_int_equal(finish(start(), &out), 0);
		expect_report(tried[i].text, strlen(tried[i].text), tried[i].rules, &out);
		blob_clear(&out);
	}
}

/* Before the check, as in a file that is read as an artifact. */
static void
masks_secrets(void **state)
{
	static const char text[] = "id,name\n" SECRET ",x\n", rules[] = "{\"id\": \"int\"}";
	static const char masked[] = "id,name\n********************,x\n";
	struct blob out;

	(void)state;
	write_file("t.csv", text, strlen(text));
	write_job("t.csv", rules, SECRET);
	assert_int_equal(finish(start(), &out), 0);
	expect_report(masked, strlen(masked), rules, &out);
	assert_null(memmem(out.data, out.size, "sk-", 3));
	blob_clear(&out);
}

static void
refuses_what_is_no_file(void **state)
{
	static const struct {
		const char *path;
		enum err_code code;
	} tried[] = { { "link", ERR_path_not_allowed }, { "way/t.csv", ERR_path_not_allowed },
		{ "fifo", ERR_path_not_allowed }, { "d", ERR_path_not_allowed },
		{ "none", ERR_not_found }, { "d/none", ERR_not_found } };
	struct blob out;

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		write_job(tried[i].path, NULL, NULL);
		int status = finish(start(), &out);
		assert_in_range(status, JOB_FAILED, JOB_FAILED + COUNT(job_errors) - 1);
		assert_int_equal(job_errors[status - JOB_FAILED], tried[i].code);
		assert_int_equal(strncmp(out.data, "path: ", strlen("path: ")), 0);
		blob_clear(&out);
	}
}

/* An incomplete job is no error of a file. */
static void
refuses_no_job(void **state)
{
	struct blob whole, out;
	struct err e;

	(void)state;
	write_file("t.csv", "a\n1\n", 4);
	write_job("t.csv", NULL, NULL);
	assert_int_equal(fdio_load(AT_FDCWD, "job", OUT_BYTES, &whole, &e), 0);
	for (size_t size = 0; size < whole.size; size += 7) {
		write_file("job", whole.data, size);
		assert_int_equal(finish(start(), &out), 1);
		assert_int_equal(out.size, 0);
		blob_clear(&out);
	}
	blob_clear(&whole);
}

/* ---- large files ---- */

static void
write_large(void)
{
	static const char row[] = "123,some name of a person,2024-02-29,1.5\n";
	FILE *to = fopen("t.csv", "we");

	fputs("id,name,day,price\n", to);
	for (size_t at = 0; at < LARGE; at += sizeof row - 1)
		fputs(row, to);
	fputs("x,y,z,1\n", to);
	assert_int_equal(fclose(to), 0);
}

static uint64_t
anonymous_kb(pid_t pid)
{
	char path[32], line[256];
	uint64_t kb = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *from = fopen(path, "re");
	while (from != NULL && kb == 0 && fgets(line, sizeof line, from) != NULL)
		if (strncmp(line, "RssAnon:", 8) == 0)
			kb = strtoull(line + 8, NULL, 10);
	if (from != NULL)
		fclose(from);
	return kb;
}

static uint64_t
peak_kb(pid_t pid)
{
	siginfo_t ended = { 0 };
	uint64_t peak = 0;

	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       ended.si_pid == 0) {
		uint64_t now = anonymous_kb(pid);

		peak = now > peak ? now : peak;
		usleep(1000);
	}
	return peak;
}

static void
takes_little_memory(void **state)
{
	struct csv_report report = { 0 };
	struct packed packed;
	struct blob out;
	struct err e;

	(void)state;
	write_large();
	write_job("t.csv", "{\"id\": \"int\"}", SECRET);
	pid_t pid = start();
	uint64_t peak = peak_kb(pid);
	assert_int_equal(finish(pid, &out), 0);
	assert_in_range(peak, 1, ANON_KB);
	assert_int_equal(wire_raise(&out, &packed, &e), 0);
	assert_int_equal(wire_decode(MSG_csv_report, &packed, &report, &e), 0);
	assert_int_equal(report.error_count, 1);
	assert_int_equal(report.errors.items[0].row, report.row_count);
	assert_true(report.row_count > 1000000);
	packed_clear(&packed);
	message_clear(MSG_csv_report, &report);
	blob_clear(&out);
}

static bool
has_mapped(pid_t pid, const char *name)
{
	char path[32], line[512];
	bool found = false;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *from = fopen(path, "re");
	assert_non_null(from);
	while (!found && fgets(line, sizeof line, from) != NULL)
		found = strstr(line, name) != NULL;
	fclose(from);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	return found;
}

static void
notices_that_a_file_shrinks(void **state)
{
	struct blob out;

	(void)state;
	write_large();
	write_job("t.csv", NULL, NULL);
	pid_t pid = start();
	while (!has_mapped(pid, "t.csv"))
		usleep(1000);
	assert_int_equal(truncate("t.csv", 100), 0);
	assert_int_equal(finish(pid, &out), JOB_SHRANK);
	assert_int_equal(job_errors[JOB_SHRANK - JOB_FAILED], ERR_session_busy);
	blob_clear(&out);
}

static void
converts_no_large_file(void **state)
{
	struct blob out;

	(void)state;
	write_file("t.csv", "\xff\xfe", 2);
	assert_int_equal(truncate("t.csv", LARGE), 0);
	write_job("t.csv", NULL, NULL);
	assert_int_equal(finish(start(), &out), JOB_FAILED + 1);
	assert_non_null(memmem(out.data, out.size, "only UTF-8", strlen("only UTF-8")));
	blob_clear(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_as_the_validator),
		cmocka_unit_test(masks_secrets),
		cmocka_unit_test(refuses_what_is_no_file),
		cmocka_unit_test(refuses_no_job),
		cmocka_unit_test(takes_little_memory),
		cmocka_unit_test(notices_that_a_file_shrinks),
		cmocka_unit_test(converts_no_large_file),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
