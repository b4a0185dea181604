/* SPDX-License-Identifier: Apache-2.0 */
/* test_kept.c - which descriptors the supervisor stores for a daemon's next process, and which
 * it does not. */
#include "supervised.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"

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

/* ---- the daemons ---- */

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

static void
play(const char *name)
{
	const char *keep = getenv("KEEP");

	tell_kept(name);
	if (strcmp(getenv("LISTEN_FDS"), "0") == 0)
		have_kept(keep != NULL ? keep : "");
}

/* ---- cases ---- */

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

/* Without those of who just asked for the status, and is about to be seen off. */
static size_t
descriptors_at_rest(pid_t pid)
{
	size_t least = descriptors_of(pid);

	for (int i = 0; i < 50; i++) {
		size_t now = descriptors_of(pid);

		least = now < least ? now : least;
		usleep(2000);
	}
	return least;
}

/* Within a while: what was sent to it is read between other things. */
static void
assert_comes_to(pid_t pid, size_t descriptors)
{
	for (int i = 0; i < 50 && descriptors_at_rest(pid) != descriptors; i++)
		;
	assert_int_equal(descriptors_at_rest(pid), descriptors);
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
	descriptors = descriptors_at_rest(supervisor);
	for (int i = 0; i < 3; i++) {
		start_again(pids, PLAYED_executor, i % 2 == 0 ? SIGKILL : SIGTERM);
		assert_kept("executor", kept);
	}
	/* Nobody else's is kept, nor does a stranger add to it. */
	start_again(pids, PLAYED_validator, SIGKILL);
	assert_kept("validator", "store 0, has 0 named \"\": ");
	send_with("FDSTORE=1\nFDNAME=memory", STDERR_FILENO);
	send_with("FDSTOREREMOVE=1\nFDNAME=memory", STDERR_FILENO);
	start_again(pids, PLAYED_executor, SIGKILL);
	assert_kept("executor", kept);
	assert_comes_to(supervisor, descriptors);
}

static void
what_is_kept_has_bounds(void **unused)
{
	pid_t pids[DAEMONS], supervisor;
	size_t descriptors;

	(void)unused;
	go_up(pids);
	supervisor = wait_ready(pids);
	descriptors = descriptors_at_rest(supervisor);
	status_of(START(NULL, NULL, "down"));
	wait_gone(supervisor);
	setenv("KEEP", "flood", 1);
	go_up(pids);
	supervisor = wait_ready(pids);
	assert_comes_to(supervisor, descriptors + MOST_KEPT);
	start_again(pids, PLAYED_executor, SIGKILL);
	assert_kept("executor", "store 4, has 4 named \"x:x:x:x\": hello");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest cases[] = {
		CASE(an_executor_finds_what_it_had_kept),
		CASE(what_is_kept_has_bounds),
	};

	supervised_play(argc, argv, play);
	return cmocka_run_group_tests(cases, NULL, NULL);
}
