/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_supervisor.c - the real `cloister up` over daemons that do what a case wants of them.
 *
 * This program is also those daemons and the gateway: it is copied beside a copy of cloister under
 * their names.  All of it happens in a folder of its own, and ends by pid.
 */
#include "common/auto.h"
#include "common/fdio.h"
#include "common/loop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	PATIENCE_MS = 20000,
	PAUSE_US = 5000,
	DAEMONS = 4,
};

static const char *const names[DAEMONS] = { "auditd", "snapshotd", "validator", "executor" };

static char folder[32], cloister[64], run[64], state[64];

/* ---- the daemons ---- */

static void
notify(const char *text)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", getenv("NOTIFY_SOCKET") ?: "");
	if (sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		_exit(9);
}

/* ---- what they have kept ---- */

enum {
	MOST_KEPT = 4,
	FLOOD = 300,
};

/* Waits for room, as a socket of this kind has little. */
static void
send_with(const char *text, int fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	auto_fd int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/supervisor.notify", getenv("CLOISTER_RUN"));
	if (connect(sock, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    fdio_send(sock, text, strlen(text), &fd, 1) < 0)
		_exit(9);
}

/* The first word of what is kept as descriptor 3. */
static void
read_first(char *word, size_t size)
{
	ssize_t n = pread(3, word, size - 1, 0);

	word[n > 0 ? n : 0] = '\0';
}

/* What it was started with, for the test: whether it may keep anything, what it has, how much. */
static void
tell_kept(const char *name)
{
	char path[128], draft[140], pid[24], word[16] = "";
	bool mine;

	snprintf(pid, sizeof(pid), "%010d", getpid());
	mine = strcmp(getenv("LISTEN_PID") ?: "", pid) == 0;
	snprintf(path, sizeof(path), "%s/kept.%s", getenv("CLOISTER_RUN"), name);
	snprintf(draft, sizeof(draft), "%s.draft", path);
	if (mine && strcmp(getenv("LISTEN_FDS"), "0") != 0)
		read_first(word, sizeof(word));

	FILE *file = fopen(draft, "we");

	fprintf(file, "store %s, has %s named \"%s\": %s", getenv("FDSTORE"),
	    mine ? getenv("LISTEN_FDS") : "nothing", getenv("LISTEN_FDNAMES"), word);
	fclose(file);
	rename(draft, path);
}

/* KEEP=memory: one descriptor, and some that go again; KEEP=flood: more than anybody may. */
static void
have_kept(const char *how)
{
	auto_fd int fd = memfd_create("kept", MFD_CLOEXEC);

	if (write(fd, "hello", 5) != 5)
		_exit(8);
	if (strcmp(how, "memory") == 0) {
		send_with("FDSTORE=1\nFDNAME=other", fd);
		send_with("FDSTORE=1\nFDNAME=memory", fd);
		send_with("FDSTORE=1\nFDNAME=other", fd);
		send_with("FDSTOREREMOVE=1\nFDNAME=other", fd);
		send_with("FDSTOREREMOVE=1\nFDNAME=nothing", fd);
		send_with("FDNAME=unasked", fd);
	}
	for (int i = 0; strcmp(how, "flood") == 0 && i < FLOOD; i++) {
		send_with("FDSTORE=1\nFDNAME=a:b", fd);
		send_with("FDSTORE=1\nFDNAME=\nFDSTORE=1", fd);
		send_with("FDSTORE=1\nFDNAME=one-that-is-longer-than-any-name-may-be", fd);
		if (i >= FLOOD / 2)
			send_with("FDSTORE=1\nFDNAME=x", fd);
	}
}

/* DEAF=validator: that one does not hear SIGTERM. */
static void
be_daemon(const char *name)
{
	const char *deaf = getenv("DEAF"), *keep = getenv("KEEP");

	if (keep != NULL)
		tell_kept(name);
	if (keep != NULL && strcmp(getenv("LISTEN_FDS"), "0") == 0)
		have_kept(keep);

	if (deaf != NULL && strcmp(deaf, name) == 0)
		signal(SIGTERM, SIG_IGN);
	notify("READY=1\nSTATUS=1 running, 2 queued, room for 3");
	notify("STATUS=\x1b[31mnot plain");
	for (;;)
		pause();
}

/* Prints its arguments, then lives as long as a client: until the end of input. */
static int
be_gateway(int argc, char **argv)
{
	char byte;

	for (int i = 1; i < argc; i++)
		printf("%s ", argv[i]);
	puts("");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	return 0;
}

/* ---- helpers ---- */

static void
copy(const char *from, const char *name)
{
	char path[128];
	auto_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", folder, name);

	auto_fd int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	assert_return_code(fstat(in, &st), errno);
	for (off_t done = 0; done < st.st_size;)
		assert_true(sendfile(out, in, &done, (size_t)st.st_size) > 0);
	assert_return_code(fchmod(out, 0755), errno);
}

/* cloister with these arguments; *out, where not NULL, reads its stdout, *in writes its stdin. */
static pid_t
start(int *in, int *out, const char *const *arguments)
{
	int to[2], from[2];
	const char *argv[16] = { cloister };

	for (int i = 0; arguments[i] != NULL; i++)
		argv[i + 1] = arguments[i];
	assert_return_code(pipe2(to, O_CLOEXEC), errno);
	assert_return_code(pipe2(from, O_CLOEXEC), errno);

	pid_t pid = fork();

	if (pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(
		    out != NULL ? from[1] : open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		execv(cloister, (char *const *)argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	if (in != NULL)
		*in = to[1];
	else
		close(to[1]);
	if (out != NULL)
		*out = from[0];
	else
		close(from[0]);
	return pid;
}

#define START(in, out, ...) start(in, out, (const char *const[]){ __VA_ARGS__, NULL })

static int
status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What `cloister status --json` says, the caller's; NULL where nothing runs. */
static json_t *
ask(void)
{
	int out;
	pid_t pid = START(NULL, &out, "status", "--json");
	FILE *stream = fdopen(out, "r");
	json_t *status = json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL);

	fclose(stream);
	if (status_of(pid) == 0)
		return status;
	json_decref(status);
	return NULL;
}

static json_t *
daemon_of(const json_t *status, int i)
{
	return json_array_get(json_object_get(status, "daemons"), (size_t)i);
}

static int64_t
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Until all are ready; their pids. */
static pid_t
wait_ready(pid_t pids[DAEMONS])
{
	int64_t end = loop_now_ms() + PATIENCE_MS;

	for (; loop_now_ms() < end; usleep(PAUSE_US)) {
		json_t *status = ask();
		pid_t supervisor = (pid_t)number(status, "pid");
		bool ready = json_is_true(json_object_get(status, "ready"));

		for (int i = 0; i < DAEMONS; i++)
			pids[i] = (pid_t)number(daemon_of(status, i), "pid");
		json_decref(status);
		if (ready)
			return supervisor;
	}
	fail_msg("the daemons did not become ready");
	return 0;
}

static void
wait_gone(pid_t pid)
{
	int64_t end = loop_now_ms() + PATIENCE_MS;

	while (kill(pid, 0) == 0) {
		assert_true(loop_now_ms() < end);
		usleep(PAUSE_US);
	}
}

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

static void
go_up(pid_t pids[DAEMONS])
{
	assert_int_equal(status_of(START(NULL, NULL, "up")), 0);
	wait_ready(pids);
}

static int
set_up(void **unused)
{
	char self[256] = { 0 }, name[64];

	(void)unused;
	snprintf(folder, sizeof(folder), "/tmp/test-cloister-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	for (int i = 0; i < DAEMONS; i++) {
		snprintf(name, sizeof(name), "cloister-%s", names[i]);
		copy(self, name);
	}
	copy(self, "cloister-gateway");
	copy(CLOISTER, "cloister");
	snprintf(cloister, sizeof(cloister), "%s/cloister", folder);
	snprintf(run, sizeof(run), "%s/run", folder);
	snprintf(state, sizeof(state), "%s/state", folder);
	setenv("CLOISTER_RUN", run, 1);
	setenv("CLOISTER_STATE", state, 1);
	setenv("CLOISTER_SUPERVISOR_IDLE_S", "1", 1);
	setenv("CLOISTER_SUPERVISOR_STOP_S", "2", 1);
	unsetenv("DEAF");
	unsetenv("KEEP");
	return 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	return remove(path);
}

static int
tear_down(void **unused)
{
	(void)unused;
	status_of(START(NULL, NULL, "down"));
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
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

		assert_string_equal(json_string_value(json_object_get(d, "name")), names[i]);
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
		assert_return_code(kill(pids[2], SIGKILL), errno);
		wait_gone(pids[2]);
		wait_ready(pids);
		took_ms[i] = loop_now_ms() - start_ms;
	}
	assert_in_range(took_ms[1], 100, 10000);
	assert_in_range(took_ms[2], 200, 10000);
	assert_in_range(took_ms[3], 400, 10000);
	assert_true(took_ms[0] < took_ms[3]);
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

/* Of the daemon's last start. */
static void
assert_kept(const char *name, const char *what)
{
	char path[128], text[256] = "";

	snprintf(path, sizeof(path), "%s/kept.%s", run, name);

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_true(fgets(text, sizeof(text), file) != NULL);
	fclose(file);
	assert_string_equal(text, what);
}

static size_t
descriptors_of(pid_t pid)
{
	char path[64];
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);

	auto_dir DIR *dir = opendir(path);

	while (readdir(dir) != NULL)
		count++;
	return count;
}

static void
start_again(pid_t pids[DAEMONS], int i, int signal)
{
	pid_t old = pids[i];

	assert_return_code(kill(old, signal), errno);
	wait_gone(old);
	wait_ready(pids);
	assert_int_not_equal(pids[i], old);
}

static void
an_executor_finds_what_it_had_kept(void **unused)
{
	const char *kept = "store 4, has 1 named \"memory\": hello";
	pid_t pids[DAEMONS], supervisor;
	size_t descriptors;

	(void)unused;
	setenv("KEEP", "memory", 1);
	go_up(pids);
	supervisor = wait_ready(pids);
	assert_kept("executor", "store 4, has 0 named \"\": ");
	descriptors = descriptors_of(supervisor);
	for (int i = 0; i < 3; i++) {
		start_again(pids, 3, i % 2 == 0 ? SIGKILL : SIGTERM);
		assert_kept("executor", kept);
	}
	/* Nobody else's is kept, nor does a stranger add to it. */
	start_again(pids, 2, SIGKILL);
	assert_kept("validator", "store 0, has 0 named \"\": ");
	send_with("FDSTORE=1\nFDNAME=memory", STDERR_FILENO);
	send_with("FDSTOREREMOVE=1\nFDNAME=memory", STDERR_FILENO);
	start_again(pids, 3, SIGKILL);
	assert_kept("executor", kept);
	assert_int_equal(descriptors_of(supervisor), descriptors);
}

static void
what_is_kept_has_bounds(void **unused)
{
	pid_t pids[DAEMONS], supervisor;
	size_t descriptors;

	(void)unused;
	go_up(pids);
	supervisor = wait_ready(pids);
	descriptors = descriptors_of(supervisor);
	status_of(START(NULL, NULL, "down"));
	wait_gone(supervisor);
	setenv("KEEP", "flood", 1);
	go_up(pids);
	supervisor = wait_ready(pids);
	assert_int_equal(descriptors_of(supervisor), descriptors + MOST_KEPT);
	start_again(pids, 3, SIGKILL);
	assert_kept("executor", "store 4, has 4 named \"x:x:x:x\": hello");
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
	assert_answer("adopt\n", "no descriptor");
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
a_folder_of_others_is_not_used(void **unused)
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
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest cases[] = {
		CASE(up_status_and_down),
		CASE(whoever_dies_is_started_again),
		CASE(patience_grows_with_one_that_keeps_dying),
		CASE(nothing_outlives_a_killed_supervisor),
		CASE(an_executor_finds_what_it_had_kept),
		CASE(what_is_kept_has_bounds),
		CASE(one_that_does_not_stop_is_killed),
		CASE(clients_share_and_the_last_one_ends_it),
		CASE(a_killed_client_gives_its_lease_back),
		CASE(many_at_once_get_one_supervisor),
		CASE(up_makes_it_stay),
		CASE(bad_lines_are_refused_and_harm_nobody),
		CASE(a_folder_of_others_is_not_used),
		CASE(unknown_words_are_named),
	};
	const char *name = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;

	if (strcmp(name, "cloister-gateway") == 0)
		return be_gateway(argc, argv);
	if (strncmp(name, "cloister-", 9) == 0)
		be_daemon(name + 9);
	return cmocka_run_group_tests(cases, NULL, NULL);
}
