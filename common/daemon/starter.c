/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starter.c - datagrams to NOTIFY_SOCKET, descriptors from LISTEN_FDS.
 *
 * Trusts the process that started this one, but not the type of a descriptor, which its user must
 * check: the starter may have got it from another version of this program.
 */
#include "common/daemon/starter.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	FIRST = 3,
	WAIT_MS = 1000, /* for room in the socket's queue */
	NAME = 32,
};

static struct {
	int sock;
	bool keeps;
	unsigned count;
	int fds[STARTER_MAX_KEPT];
	char names[STARTER_MAX_KEPT][NAME];
} starter = { .sock = -1 };

void
starter_settle(void)
{
	struct sigaction now;
	sigset_t none;
	int fd;

	/* The heap of a thread shrinks only after a read of /proc/sys/vm, for which the jail
	 * would kill the process. So ZeroMQ's threads share the arena of the first thread; they
	 * need little. */
	mallopt(M_ARENA_MAX, 1);
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	for (int s = 1; s < NSIG; s++)
		if (s != SIGHUP && s != SIGINT && s != SIGQUIT && sigaction(s, NULL, &now) == 0 &&
		    now.sa_handler == SIG_IGN)
			signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void
starter_forget_secrets(void)
{
	char **to = environ;

	for (char **from = environ; *from != NULL; from++)
		if (strncmp(*from, STARTER_SECRETS, sizeof STARTER_SECRETS - 1) == 0)
			explicit_bzero(*from, strlen(*from));
		else
			*to++ = *from;
	*to = NULL;
}

/* ---- inherited descriptors ---- */

static unsigned long
number_in(const char *variable)
{
	const char *text = getenv(variable);

	return text == NULL ? 0 : strtoul(text, NULL, 10);
}

/* Parses LISTEN_FDNAMES: names separated by colons. */
static void
note_names(const char *names)
{
	for (unsigned i = 0; i < starter.count; i++) {
		size_t size = strcspn(names, ":");

		if (size < NAME)
			memcpy(starter.names[i], names, size);
		names += size;
		names += *names == ':';
	}
}

unsigned
starter_inherit(void)
{
	bool mine = number_in("LISTEN_PID") == (unsigned long)getpid();
	unsigned long count = mine ? number_in("LISTEN_FDS") : 0;
	const char *names = getenv("LISTEN_FDNAMES");

	starter.keeps = number_in("FDSTORE") >= STARTER_MAX_KEPT;
	if (count > STARTER_MAX_KEPT) /* stored by another program */
		count = 0;
	for (; starter.count < count; starter.count++) {
		int fd = FIRST + (int)starter.count;

		starter.fds[starter.count] = fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : fd;
	}
	note_names(names != NULL ? names : "");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return starter.count;
}

int
starter_kept(const char *name)
{
	for (unsigned i = 0; i < starter.count; i++)
		if (starter.fds[i] >= 0 && strcmp(starter.names[i], name) == 0)
			return take_fd(&starter.fds[i]);
	return -1;
}

/* ---- messages to the starter ---- */

void
starter_connect(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t size = path == NULL ? 0 : strlen(path);

	if (size == 0 || size >= sizeof to.sun_path)
		return;
	memcpy(to.sun_path, path, size);
	if (*path == '@') /* an abstract socket address */
		to.sun_path[0] = '\0';
	starter.sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (starter.sock < 0 || connect(starter.sock, (struct sockaddr *)&to,
				    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)) < 0)
		log_warn("NOTIFY_SOCKET", LOG_S("path", path), LOG_S("error", strerror(errno)));
}

void
starter_tell(const char *text)
{
	if (starter.sock >= 0 && send(starter.sock, text, strlen(text), MSG_NOSIGNAL) < 0)
		log_debug(
		    "notification not sent", LOG_S("text", text), LOG_S("error", strerror(errno)));
}

bool
starter_listens(void)
{
	return starter.sock >= 0;
}

bool
starter_keeps(void)
{
	return starter.keeps && starter.sock >= 0;
}

/* A request to store a descriptor must not be dropped, unlike status messages. */
static int
ask(const char *verb, const char *name, const int *fd, struct err *e)
{
	struct pollfd room = { .fd = starter.sock, .events = POLLOUT };
	char text[NAME + 32];
	ssize_t n;

	if (!starter_keeps())
		return err_set(e, ERR_unavailable, "no supervisor stores descriptors");
	snprintf(text, sizeof text, "%s=1\nFDNAME=%s", verb, name);
	do
		n = fdio_send(starter.sock, text, strlen(text), fd, fd != NULL ? 1 : 0);
	while (n < 0 && errno == EAGAIN && poll(&room, 1, WAIT_MS) > 0);
	return n < 0 ? err_sys(e, "%s %s", verb, name) : 0;
}

int
starter_keep(const char *name, int fd, struct err *e)
{
	return ask("FDSTORE", name, &fd, e);
}

int
starter_drop(const char *name, struct err *e)
{
	return ask("FDSTOREREMOVE", name, NULL, e);
}
