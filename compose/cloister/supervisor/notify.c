/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.c - receives datagrams "READY=1", "STATUS=..." and descriptors to store from the daemons.
 *
 * A sender can only report about itself: the kernel supplies its pid. Text with unprintable
 * characters is dropped, and so is every descriptor that is not to be stored.
 */
#include "compose/cloister/supervisor/notify.h"

#include "compose/cloister/place.h"
#include "compose/cloister/supervisor/child.h"
#include "compose/cloister/supervisor/kept.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
	MESSAGE_BYTES = 512,
	MESSAGE_FDS = KEPT_MAX,
};

static int sock = -1;
static char path[PLACE_SOCKET];

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
};

/* The content of one message. */
struct notice {
	pid_t pid; /* 0: the kernel supplied none */
	char text[MESSAGE_BYTES];
	size_t nfds;
	int fds[MESSAGE_FDS];
};

static void
take_control(struct msghdr *msg, struct notice *m)
{
	struct ucred who;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		size_t size = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&who, CMSG_DATA(c), sizeof(who));
			m->pid = who.pid;
		}
		if (c->cmsg_type == SCM_RIGHTS && size <= sizeof(m->fds)) {
			memcpy(m->fds, CMSG_DATA(c), size);
			m->nfds = size / sizeof(int);
		}
	}
}

static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* Takes the descriptors. */
static void
keep(struct notice *m, const char *name)
{
	struct kept *kept = child_kept(m->pid);

	if (kept == NULL)
		return;
	while (m->nfds > 0)
		kept_add(kept, name, m->fds[--m->nfds]);
}

static void
forget(const struct notice *m, const char *name)
{
	struct kept *kept = child_kept(m->pid);

	if (kept != NULL)
		kept_remove(kept, name);
}

static void
take(struct notice *m)
{
	bool ready = false, keeps = false, forgets = false;
	const char *status = NULL, *name = "";

	for (char *rest = NULL, *line = strtok_r(m->text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		ready |= strcmp(line, "READY=1") == 0;
		keeps |= strcmp(line, "FDSTORE=1") == 0;
		forgets |= strcmp(line, "FDSTOREREMOVE=1") == 0;
		if (strncmp(line, "STATUS=", 7) == 0 && is_plain(line + 7))
			status = line + 7;
		if (strncmp(line, "FDNAME=", 7) == 0)
			name = line + 7;
	}
	if (keeps)
		keep(m, name);
	if (forgets)
		forget(m, name);
	child_says(m->pid, ready, status);
}

static void
on_message(void *self, uint32_t events)
{
	struct notice m = { 0 };
	union control control;
	struct iovec part = { m.text, sizeof(m.text) - 1 };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	(void)self, (void)events;
	if (n < 0)
		return;
	take_control(&msg, &m);
	m.text[n] = '\0';
	take(&m);
	while (m.nfds > 0)
		close(m.fds[--m.nfds]);
}

int
notify_open(struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (place_socket("supervisor.notify", path, e) < 0)
		return -1;
	memcpy(address.sun_path, path, sizeof(path));
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(path);
	if (sock < 0 || bind(sock, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0600) < 0 ||
	    setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) < 0)
		return err_sys(e, "bind %s", path);
	if (setenv("NOTIFY_SOCKET", path, 1) < 0)
		return err_sys(e, "setenv");
	return loop_watch(sock, EPOLLIN, on_message, NULL, e);
}

void
notify_close(void)
{
	if (sock < 0)
		return;
	loop_forget(sock);
	close(sock);
	unlink(path);
}
