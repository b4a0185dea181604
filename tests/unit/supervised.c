/* SPDX-License-Identifier: Apache-2.0 */
/* supervised.c - copies of programs in a directory, and a supervisor that starts them. */
#include "supervised.h"

#include "scratch.h"

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
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	PATIENCE_MS = 20000,
	PAUSE_US = 5000,
};

/* clang-format off */
const char *const supervised_names[DAEMONS] = {
#define NAME_RESIDENT(name) #name,
#define NAME_PER_CLIENT(name)
#define PEER(name, directory, life, ...) NAME_##life(name)
#include "common/table/peers.def"
};
/* clang-format on */

static char directory[32], cloister[64], state[64];
char run[64];

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

/* FAILS: says why and ends; HANGS: is never ready. */
static void
fail_to_start(const char *name)
{
	const char *fails = getenv("FAILS"), *hangs = getenv("HANGS");

	if (fails != NULL && strcmp(fails, name) == 0) {
		notify("STATUS=the disk is on fire");
		_exit(1);
	}
	while (hangs != NULL && strcmp(hangs, name) == 0)
		pause();
}

static void
be_daemon(const char *name, void (*more)(const char *name))
{
	const char *deaf = getenv("DEAF");

	if (more != NULL)
		more(name);
	if (deaf != NULL && strcmp(deaf, name) == 0)
		signal(SIGTERM, SIG_IGN);
	fail_to_start(name);
	if (getenv("FAULT") != NULL && strcmp(getenv("FAULT"), name) == 0)
		notify("READY=1\nSTATUS=fault: no room here");
	else
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

void
supervised_play(int argc, char **argv, void (*more)(const char *name))
{
	const char *name = strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1;

	if (strcmp(name, "cloister-gateway") == 0)
		exit(be_gateway(argc, argv));
	if (strncmp(name, "cloister-", 9) == 0)
		be_daemon(name + 9, more);
}

/* ---- helpers ---- */

static void
copy(const char *from, const char *name)
{
	char path[128];
	auto_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", directory, name);

	auto_fd int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	assert_return_code(fstat(in, &st), errno);
	for (off_t done = 0; done < st.st_size;)
		assert_true(sendfile(out, in, &done, (size_t)st.st_size) > 0);
	assert_return_code(fchmod(out, 0755), errno);
}

pid_t
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

int
status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

json_t *
ask(void)
{
	int out;
	pid_t pid = START(NULL, &out, "status", "--json");
	FILE *stream = fdopen(out, "r");
	json_t *status = json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL);

	fclose(stream);
	/* 1: a daemon cannot become ready without help. */
	if (status_of(pid) <= 1)
		return status;
	json_decref(status);
	return NULL;
}

json_t *
daemon_of(const json_t *status, int i)
{
	return json_array_get(json_object_get(status, "daemons"), (size_t)i);
}

int64_t
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

pid_t
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

void
wait_gone(pid_t pid)
{
	int64_t end = loop_now_ms() + PATIENCE_MS;

	while (kill(pid, 0) == 0) {
		assert_true(loop_now_ms() < end);
		usleep(PAUSE_US);
	}
}

void
go_up(pid_t pids[DAEMONS])
{
	assert_int_equal(status_of(START(NULL, NULL, "up")), 0);
	wait_ready(pids);
}

int
set_up(void **unused)
{
	char self[256] = { 0 }, name[64];

	(void)unused;
	snprintf(directory, sizeof(directory), "/tmp/test-cloister-XXXXXX");
	assert_non_null(mkdtemp(directory));
	/* As root, the users of daemons must be able to enter it. */
	assert_return_code(chmod(directory, 0755), errno);
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	for (int i = 0; i < DAEMONS; i++) {
		snprintf(name, sizeof(name), "cloister-%s", supervised_names[i]);
		copy(self, name);
	}
	copy(self, "cloister-gateway");
	copy(CLOISTER, "cloister");
	snprintf(cloister, sizeof(cloister), "%s/cloister", directory);
	snprintf(run, sizeof(run), "%s/run", directory);
	snprintf(state, sizeof(state), "%s/state", directory);
	setenv("CLOISTER_RUN", run, 1);
	setenv("CLOISTER_STATE", state, 1);
	setenv("CLOISTER_SUPERVISOR_IDLE_S", "1", 1);
	setenv("CLOISTER_SUPERVISOR_STOP_S", "2", 1);
	unsetenv("DEAF");
	unsetenv("FAILS");
	unsetenv("HANGS");
	unsetenv("CLOISTER_SUPERVISOR_START_S");
	unsetenv("KEEP");
	return 0;
}

int
tear_down(void **unused)
{
	json_t *status = ask();
	pid_t supervisor = (pid_t)number(status, "pid");

	(void)unused;
	json_decref(status);
	status_of(START(NULL, NULL, "down"));
	if (supervisor > 0) /* it tidies up after its answer */
		wait_gone(supervisor);
	return scratch_remove(directory);
}
