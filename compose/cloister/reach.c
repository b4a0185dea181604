/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c - connects to a user's supervisor, or starts one.
 *
 * Trusts a listener only if the kernel reports this user (or root) as its peer, because the
 * directory may be below /tmp. Every wait is bounded.
 */
#include "compose/cloister/reach.h"

#include "compose/cloister/place.h"
#include "compose/cloister/supervisor/logfile.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum {
	ANSWER_BYTES = 65536,
	ANSWER_S = 2,
	DOWN_S = 30,
};

static int
connect_to(const char *path, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred who;
	socklen_t size = sizeof(who);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0)
		return err_sys(e, "socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		err_sys(e, "connect to %s", path);
		if (errno == ENOENT || errno == ECONNREFUSED)
			e->code = ERR_not_found;
		return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return err_sys(e, "get the peer of %s", path);
	if (who.uid != geteuid() && who.uid != 0)
		return err_set(e, ERR_denied, "%s is served by uid %u, not by this user", path,
		    (unsigned)who.uid);
	return take_fd(&fd);
}

static int
reach(int patience_s, struct err *e)
{
	char path[PLACE_SOCKET];

	if (place_socket("supervisor.sock", path, e) < 0)
		return -1;

	int fd = connect_to(path, e);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_sec = patience_s },
		    sizeof(struct timeval));
	return fd;
}

/* One line without its newline, from malloc. */
static char *
read_answer(int fd, struct err *e)
{
	auto_free char *text = malloc(ANSWER_BYTES);
	size_t have = 0;

	if (text == NULL) {
		err_sys(e, "answer");
		return NULL;
	}
	while (have < ANSWER_BYTES) {
		ssize_t n = read(fd, text + have, ANSWER_BYTES - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		if (text[have - 1] == '\n') {
			text[have - 1] = '\0';
			return take_ptr(text);
		}
	}
	/* A supervisor that is about to exit closes its socket, also to clients that have just
	 * connected. */
	err_set(e, ERR_not_found, "the supervisor did not reply");
	return NULL;
}

/* given: a descriptor to pass, or -1. */
static char *
ask(int fd, const char *line, int given, struct err *e)
{
	if (fdio_send(fd, line, strlen(line), &given, given >= 0) < 0) {
		err_sys(e, "send to the supervisor");
		e->code = ERR_not_found;
		return NULL;
	}
	return read_answer(fd, e);
}

static int
expect_ok(int fd, const char *line, int given, struct err *e)
{
	auto_free char *text = ask(fd, line, given, e);

	if (text == NULL)
		return -1;
	if (strcmp(text, "ok") != 0)
		return err_set(e, ERR_unavailable, "the supervisor says: %.100s", text);
	return 0;
}

int
reach_lease(struct err *e)
{
	auto_fd int fd = reach(ANSWER_S, e);

	if (fd < 0 || expect_ok(fd, "lease\n", -1, e) < 0)
		return -1;
	return take_fd(&fd);
}

int
reach_give(int lease, struct err *e)
{
	auto_fd int fd = reach(ANSWER_S, e);

	return fd < 0 ? -1 : expect_ok(fd, "adopt\n", lease, e);
}

int
reach_stay(struct err *e)
{
	auto_fd int fd = reach(ANSWER_S, e);

	return fd < 0 ? -1 : expect_ok(fd, "stay\n", -1, e);
}

void
reach_differ(const char *line)
{
	struct err e;
	auto_fd int fd = reach(ANSWER_S, &e);
	auto_fd int text = memfd_create("settings", MFD_CLOEXEC);

	if (fd >= 0 && text >= 0 && fdio_write(text, line, strlen(line), &e) == 0)
		expect_ok(fd, "differ\n", text, &e);
}

char *
reach_status(struct err *e)
{
	auto_fd int fd = reach(ANSWER_S, e);

	return fd < 0 ? NULL : ask(fd, "status\n", -1, e);
}

int
reach_down(struct err *e)
{
	auto_fd int fd = reach(DOWN_S, e);

	return fd < 0 ? -1 : expect_ok(fd, "down\n", -1, e);
}

/* ---- starting a supervisor ---- */

/* Replaces the caller's standard streams by the log. */
static int
change_streams(struct err *e)
{
	auto_fd int directory = place_open_state(e);
	auto_fd int log = directory < 0 ? -1 : logfile_append(directory, e);
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (log < 0)
		return -1;
	if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir("/") < 0)
		return err_sys(e, "redirect the standard streams");
	return 0;
}

/* The lease becomes descriptor 3; all other descriptors of the caller are closed. */
static int
keep_lease(int lease)
{
	if (lease < 0)
		return close_range(3, ~0U, 0);
	if (lease != 3 ? dup2(lease, 3) < 0 : fcntl(3, F_SETFD, 0) < 0)
		return -1;
	return close_range(4, ~0U, 0);
}

static void
become_supervisor(int lease)
{
	char self[PLACE_PATH];
	const char *argv[PLACE_FLAGS + 8] = { self, "up", "--foreground" };
	size_t count = 3 + place_flags(false, argv + 3);
	struct err e;

	if (lease >= 0) {
		argv[count++] = "--on-demand";
		argv[count++] = "--lease=3";
	}
	if (place_self(self, &e) < 0 || change_streams(&e) < 0) {
		fprintf(stderr, "cloister: %s\n", e.text);
		_exit(1);
	}
	if (keep_lease(lease) == 0)
		execv(self, (char *const *)argv);
	_exit(127);
}

int
reach_start(int lease, struct err *e)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0)
			become_supervisor(lease);
		_exit(pid < 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (status != 0)
		return err_set(e, ERR_unavailable, "the supervisor could not be started");
	return 0;
}

bool
reach_daemons_run(void)
{
	char path[PLACE_SOCKET];
	struct err e;

	if (place_socket("gateway-executor/1", path, &e) < 0)
		return false;

	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, sizeof(path));
	return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

/* A killed supervisor leaves its socket. One that ends has removed it, and has the lock. */
bool
reach_supervised(int run)
{
	auto_fd int lock = openat(run, "supervisor.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (faccessat(run, "supervisor.sock", F_OK, 0) == 0)
		return true;
	return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}
