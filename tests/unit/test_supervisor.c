/* SPDX-License-Identifier: Apache-2.0 */
/* test_supervisor.c - which processes are started, which clients share them, and how they end. */
#include "supervised.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	PATIENCE_MS = 20000,
	PAUSE_US = 5000,
};

/* ---- helpers ---- */

static void
wait_all_gone(const pid_t pids[DAEMONS])
{
	for (int i = 0; i < DAEMONS; i++)
		wait_gone(pids[i]);
}

static void
wait_leases(int64_t count)
{
	int64_t end = loop_now_ms() + PATIENCE_MS;

	for (; loop_now_ms() < end; usleep(PAUSE_US)) {
		json_t *status = ask();
		bool same = status != NULL && number(status, "leases") == count;

		json_decref(status);
		if (same)
			return;
	}
	fail_msg("there are not %d leases", (int)count);
}

static bool
exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", run, name);
	return access(path, F_OK) == 0;
}

static int
connect_to_supervisor(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/supervisor.sock", run);
	assert_return_code(connect(fd, (struct sockaddr *)&to, sizeof(to)), errno);
	return fd;
}

/* ---- cases ---- */

static void
up_status_and_down(void **unused)
{
	pid_t pids[DAEMONS], supervisor;
	json_t *status;

	(void)unused;
	assert_null(ask());
	assert_int_equal(status_of(START(NULL, NULL, "status")), 3);
	go_up(pids);
	supervisor = wait_ready(pids);
	status = ask();
	assert_true(json_is_true(json_object_get(status, "stays")));
	for (int i = 0; i < DAEMONS; i++) {
		const json_t *d = daemon_of(status, i), *load = json_object_get(d, "load");

		assert_string_equal(
		    json_string_value(json_object_get(d, "name")), supervised_names[i]);
		assert_int_equal(number(d, "restarts"), 0);
		assert_int_equal(number(load, "running"), 1);
		assert_int_equal(number(load, "queued"), 2);
		assert_int_equal(number(load, "room"), 3);
	}
	json_decref(status);
	assert_int_equal(status_of(START(NULL, NULL, "status")), 0);
	assert_int_equal(status_of(START(NULL, NULL, "up")), 0); /* it is up already */
	assert_int_equal(status_of(START(NULL, NULL, "down")), 0);
	wait_gone(supervisor);
	for (int i = 0; i < DAEMONS; i++)
		assert_int_equal(kill(pids[i], 0), -1);
	assert_false(exists("supervisor.sock"));
	assert_int_equal(status_of(START(NULL, NULL, "down")), 0);
}

static void
whoever_dies_is_started_again(void **unused)
{
	pid_t before[DAEMONS], after[DAEMONS];

	(void)unused;
	go_up(before);
	for (int i = 0; i < DAEMONS; i++) {
		assert_return_code(kill(before[i], i % 2 == 0 ? SIGKILL : SIGTERM), errno);
		wait_gone(before[i]);
		wait_ready(after);
		for (int j = 0; j < DAEMONS; j++)
			assert_true((after[j] == before[j]) == (j != i));
		memcpy(before, after, sizeof(before));
	}

	json_t *status = ask();

	for (int i = 0; i < DAEMONS; i++)
		assert_int_equal(number(daemon_of(status, i), "restarts"), 1);
	assert_string_equal(json_string_value(json_object_get(daemon_of(status, 0), "last_end")),
	    "signal 9 (KILL)");
	json_decref(status);
}

/* At once, then 100, 200, 400 ms later. */
static void
patience_grows_with_one_that_keeps_dying(void **unused)
{
	pid_t pids[DAEMONS];
	int64_t start_ms, took_ms[4];

	(void)unused;
	go_up(pids);
	for (size_t i = 0; i < COUNT(took_ms); i++) {
		start_ms = loop_now_ms();
		assert_return_code(kill(pids[PLAYED_validator], SIGKILL), errno);
		wait_gone(pids[PLAYED_validator]);
		wait_ready(pids);
		took_ms[i] = loop_now_ms() - start_ms;
	}
	assert_in_range(took_ms[1], 100, 10000);
	assert_in_range(took_ms[2], 200, 10000);
	assert_in_range(took_ms[3], 400, 10000);
	assert_true(took_ms[0] < took_ms[3]);
}

/* ---- what does not start ---- */

enum { VALIDATOR = 2 };

static json_t *
wait_given_up(void)
{
	int64_t end = loop_now_ms() + PATIENCE_MS;

	for (; loop_now_ms() < end; usleep(PAUSE_US)) {
		json_t *status = ask();

		if (json_is_true(json_object_get(daemon_of(status, VALIDATOR), "given_up")))
			return status;
		json_decref(status);
	}
	fail_msg("it is tried again and again");
	return NULL;
}

static void
assert_failed_says(const char *text)
{
	char path[128], line[256] = { 0 };

	snprintf(path, sizeof(path), "%s/validator.failed", run);

	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(read(fd, line, sizeof(line) - 1) > 0);
	if (strstr(line, text) == NULL)
		fail_msg("%s", line);
}

/* Five times, with pauses; the others live on. */
static void
one_that_never_starts_is_given_up(void **unused)
{
	pid_t pids[DAEMONS];
	json_t *status;

	(void)unused;
	setenv("FAILS", "validator", 1);
	assert_int_equal(status_of(START(NULL, NULL, "up")), 1);
	status = wait_given_up();

	const json_t *d = daemon_of(status, VALIDATOR);

	assert_int_equal(number(d, "restarts"), 4);
	assert_null(json_object_get(d, "pid"));
	assert_string_equal(
	    json_string_value(json_object_get(d, "why")), "the disk is on fire (status 1)");
	for (int i = 0; i < DAEMONS; i++)
		if (i != VALIDATOR)
			assert_true(json_is_true(json_object_get(daemon_of(status, i), "ready")));
	json_decref(status);
	assert_failed_says("the disk is on fire");
	usleep(1000000);
	status = ask();
	assert_int_equal(number(daemon_of(status, VALIDATOR), "restarts"), 4);
	json_decref(status);
	assert_int_equal(status_of(START(NULL, NULL, "down")), 0);
	assert_false(exists("validator.failed"));
	unsetenv("FAILS");
	go_up(pids);
	assert_false(exists("validator.failed"));
}

/* It answers, so it is neither killed nor started again; the command says at once what it lacks. */
static void
one_that_cannot_work_is_not_ready(void **unused)
{
	json_t *status;

	(void)unused;
	setenv("FAULT", "validator", 1);
	assert_int_equal(status_of(START(NULL, NULL, "up")), 1);
	unsetenv("FAULT");
	assert_int_equal(status_of(START(NULL, NULL, "status")), 1);
	status = ask();

	const json_t *d = daemon_of(status, VALIDATOR);

	assert_false(json_is_true(json_object_get(status, "ready")));
	assert_false(json_is_true(json_object_get(d, "ready")));
	assert_true(json_is_true(json_object_get(d, "fault")));
	assert_string_equal(json_string_value(json_object_get(d, "why")), "no room here");
	assert_int_equal(number(d, "restarts"), 0);
	assert_true(number(d, "pid") > 0);
	json_decref(status);
	assert_int_equal(status_of(START(NULL, NULL, "down")), 0);
}

static void
one_that_hangs_is_killed_and_given_up(void **unused)
{
	json_t *status;

	(void)unused;
	setenv("HANGS", "validator", 1);
	setenv("CLOISTER_SUPERVISOR_START_S", "1", 1);
	assert_int_equal(status_of(START(NULL, NULL, "up")), 1);
	status = wait_given_up();

	const json_t *d = daemon_of(status, VALIDATOR);
	const char *why = json_string_value(json_object_get(d, "why"));

	assert_int_equal(number(d, "restarts"), 4);
	assert_string_equal(json_string_value(json_object_get(d, "last_end")), "signal 9 (KILL)");
	if (strstr(why, "not ready after 1 s: state S (sleeping)") == NULL)
		fail_msg("%s", why);
	assert_failed_says("state S");
	/* Who asks for the daemons anew has it tried again. */
	json_decref(status);
	assert_int_equal(status_of(START(NULL, NULL, "up")), 1);
	status = wait_given_up();
	assert_int_equal(number(daemon_of(status, VALIDATOR), "restarts"), 8);
	json_decref(status);
}

static void
nothing_outlives_a_killed_supervisor(void **unused)
{
	pid_t pids[DAEMONS], supervisor;

	(void)unused;
	go_up(pids);
	supervisor = wait_ready(pids);
	assert_return_code(kill(supervisor, SIGKILL), errno);
	wait_all_gone(pids);
	assert_null(ask());
	go_up(pids); /* over the socket and the lock it left */
}

static void
one_that_does_not_stop_is_killed(void **unused)
{
	pid_t pids[DAEMONS];
	int64_t start_ms;

	(void)unused;
	setenv("DEAF", "validator", 1);
	go_up(pids);
	start_ms = loop_now_ms();
	assert_int_equal(status_of(START(NULL, NULL, "down")), 0);
	assert_in_range(loop_now_ms() - start_ms, 1900, 6000);
	for (int i = 0; i < DAEMONS; i++)
		assert_int_equal(kill(pids[i], 0), -1);
}

static void
read_line(int fd, char *line, size_t size)
{
	size_t have = 0;

	while (have + 1 < size && read(fd, line + have, 1) == 1 && line[have] != '\n')
		have++;
	line[have] = '\0';
}

static void
clients_share_and_the_last_one_ends_it(void **unused)
{
	pid_t pids[DAEMONS], again[DAEMONS], supervisor, client[2];
	int in[2], out[2];
	char line[256];

	(void)unused;
	client[0] = START(&in[0], &out[0], "serve", "--toolsets=all");
	read_line(out[0], line, sizeof(line));
	assert_string_equal(line, "--toolsets=all --lease=3 --keep-fds=1 ");
	supervisor = wait_ready(pids);
	client[1] = START(&in[1], &out[1], "serve");
	wait_leases(2);
	close(in[0]);
	assert_int_equal(status_of(client[0]), 0);
	wait_leases(1);
	usleep(1500000); /* more than idle_s: the other still needs it */
	assert_int_equal(wait_ready(again), supervisor);
	assert_memory_equal(pids, again, sizeof(pids));
	close(in[1]);
	assert_int_equal(status_of(client[1]), 0);
	wait_gone(supervisor);
	wait_all_gone(pids);
	assert_false(exists("supervisor.sock"));
	close(out[0]);
	close(out[1]);
}

static void
a_killed_client_gives_its_lease_back(void **unused)
{
	pid_t pids[DAEMONS], supervisor, client;
	int in;

	(void)unused;
	client = START(&in, NULL, "serve");
	supervisor = wait_ready(pids);
	assert_return_code(kill(client, SIGKILL), errno);
	assert_int_equal(status_of(client), 128 + SIGKILL);
	wait_gone(supervisor);
	wait_all_gone(pids);
	close(in);
}

/* Each finds no supervisor and starts one; all but one hand their lease over. */
static void
many_at_once_get_one_supervisor(void **unused)
{
	enum { CLIENTS = 8 };
	pid_t pids[DAEMONS], supervisor, client[CLIENTS];
	int in[CLIENTS];

	(void)unused;
	for (int i = 0; i < CLIENTS; i++)
		client[i] = START(&in[i], NULL, "serve");
	wait_leases(CLIENTS);
	supervisor = wait_ready(pids);
	for (int i = 0; i < CLIENTS; i++) {
		close(in[i]);
		assert_int_equal(status_of(client[i]), 0);
	}
	wait_gone(supervisor);
	wait_all_gone(pids);
}

static void
up_makes_it_stay(void **unused)
{
	pid_t pids[DAEMONS], supervisor, client;
	int in;

	(void)unused;
	client = START(&in, NULL, "serve");
	supervisor = wait_ready(pids);
	go_up(pids);
	close(in);
	assert_int_equal(status_of(client), 0);
	usleep(1500000);
	assert_int_equal(wait_ready(pids), supervisor);
}

static void
assert_answer(const char *line, const char *expected)
{
	auto_fd int fd = connect_to_supervisor();
	char answer[256] = { 0 };

	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
	read_line(fd, answer, sizeof(answer));
	assert_true(strncmp(answer, expected, strlen(expected)) == 0);
}

static void
bad_lines_are_refused_and_harm_nobody(void **unused)
{
	static char long_line[4096];
	pid_t pids[DAEMONS], after[DAEMONS];
	int silent[300];

	(void)unused;
	go_up(pids);
	memset(long_line, 'x', sizeof(long_line) - 1);
	assert_answer("\n", "unknown");
	assert_answer("lease \n", "unknown");
	assert_answer("status\nstatus\n", "unknown");
	assert_answer("adopt\n", "exactly one descriptor");
	assert_answer(long_line, "");
	/* More than it serves at once, none of which says a word. */
	for (size_t i = 0; i < COUNT(silent); i++)
		silent[i] = connect_to_supervisor();
	for (size_t i = 0; i < COUNT(silent); i++)
		close(silent[i]);
	wait_ready(after);
	assert_memory_equal(pids, after, sizeof(pids));
}

static void
a_directory_of_others_is_not_used(void **unused)
{
	(void)unused;
	assert_return_code(mkdir(run, 0777), errno);
	assert_return_code(chmod(run, 0777), errno);
	assert_int_equal(status_of(START(NULL, NULL, "up")), 1);
	assert_int_equal(status_of(START(NULL, NULL, "serve")), 1);
	assert_return_code(chmod(run, 0700), errno);
}

static void
unknown_words_are_named(void **unused)
{
	(void)unused;
	assert_int_equal(status_of(START(NULL, NULL, "upp")), 2);
	assert_int_equal(status_of(START(NULL, NULL, "up", "--idle-s=minus")), 2);
	assert_int_equal(status_of(START(NULL, NULL, "status", "--no-such")), 2);
	assert_int_equal(status_of(START(NULL, NULL, "run")), 2);
	assert_int_equal(status_of(START(NULL, NULL, "help")), 0);
	assert_int_equal(status_of(START(NULL, NULL, "version")), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest cases[] = {
		CASE(up_status_and_down),
		CASE(whoever_dies_is_started_again),
		CASE(patience_grows_with_one_that_keeps_dying),
		CASE(one_that_never_starts_is_given_up),
		CASE(one_that_cannot_work_is_not_ready),
		CASE(one_that_hangs_is_killed_and_given_up),
		CASE(nothing_outlives_a_killed_supervisor),
		CASE(one_that_does_not_stop_is_killed),
		CASE(clients_share_and_the_last_one_ends_it),
		CASE(a_killed_client_gives_its_lease_back),
		CASE(many_at_once_get_one_supervisor),
		CASE(up_makes_it_stay),
		CASE(bad_lines_are_refused_and_harm_nobody),
		CASE(a_directory_of_others_is_not_used),
		CASE(unknown_words_are_named),
	};

	supervised_play(argc, argv, NULL);
	return cmocka_run_group_tests(cases, NULL, NULL);
}
