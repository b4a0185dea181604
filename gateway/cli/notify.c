/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.c - datagrams "READY=1" and "STATUS=..." from the daemons.
 *
 * Trusts a sender for nothing but what is said of itself: the kernel tells its pid.  Text that is
 * not plain is dropped.
 */
#include "gateway/cli/notify.h"

#include "gateway/cli/child.h"
#include "gateway/cli/place.h"

#include "common/auto.h"
#include "common/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { MESSAGE_BYTES = 512 };

static int sock = -1;
static char path[PLACE_SOCKET];

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(struct ucred))];
};

/* 0: the kernel did not say. */
static pid_t
sender(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct ucred who = { 0 };

	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
		memcpy(&who, CMSG_DATA(c), sizeof(who));
	return who.pid;
}

static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static void
take(pid_t pid, char *text)
{
	bool ready = false;
	const char *status = NULL;

	for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (strcmp(line, "READY=1") == 0)
			ready = true;
		if (strncmp(line, "STATUS=", 7) == 0 && is_plain(line + 7))
			status = line + 7;
	}
	child_says(pid, ready, status);
}

static void
on_message(void *self, uint32_t events)
{
	char text[MESSAGE_BYTES];
	union control control;
	struct iovec part = { text, sizeof(text) - 1 };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	(void)self, (void)events;
	if (n <= 0)
		return;
	text[n] = '\0';
	take(sender(&msg), text);
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
