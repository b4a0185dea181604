/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.c - messages of the person at the machine, which pass no gateway.
 *
 * Trusts the kernel for the uid of a peer: root, and without separate uids the user who runs the
 * daemons.  No box can reach the socket: its directory is in no box.  No gateway of a separate uid
 * can enter it.  A message is decoded strictly all the same, and connections and their time are
 * bounded.  It may hold a secret, so its bytes are overwritten.
 */
#include "common/daemon/operator.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	VISITORS = 16,
	ARRIVAL_MS = 5000,
};

struct visitor {
	int fd; /* 0: free */
	uid_t uid;
	uint64_t timer; /* until a packet has arrived */
};

static struct visitor visitors[VISITORS];
static int listener = -1;
static uid_t starter; /* who started this daemon; the jail has no geteuid(2) */

static void
drop(struct visitor *v)
{
	loop_unset(v->timer);
	close(v->fd);
	*v = (struct visitor){ 0 };
}

/* ---- packets ---- */

static int
send_packet(int fd, char kind, const struct packed *content, struct err *e)
{
	struct blob bytes = { 0 };
	auto_free char *whole = NULL;
	int status = wire_flatten(content, &bytes, e);

	if (status == 0 && (whole = malloc(bytes.size + 1)) == NULL)
		status = err_sys(e, "reply");
	if (status == 0) {
		whole[0] = kind;
		memcpy(whole + 1, bytes.data, bytes.size);
		if (send(fd, whole, bytes.size + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			status = err_sys(e, "send");
	}
	blob_clear(&bytes);
	return status;
}

static int
send_failure(int fd, const struct err *why, struct err *e)
{
	struct failure failure = {
		.code = (char *)(uintptr_t)err_name(why->code),
		.text = (char *)(uintptr_t)why->text,
	};
	struct packed content = { 0 };
	int status = wire_encode(MSG_failure, &failure, &content, e);

	if (status == 0)
		status = send_packet(fd, 1, &content, e);
	packed_clear(&content);
	return status;
}

static void
on_ended(void *self, struct packed *content, const struct err *why)
{
	struct visitor *v = self;
	struct err e;

	if (v->fd == 0) /* the daemon stops */
		return;
	if ((content != NULL ? send_packet(v->fd, 0, content, &e) : send_failure(v->fd, why, &e)) <
	    0)
		log_warn("an operator got no reply", LOG_E(&e));
	drop(v);
}

static int
pass_on(struct visitor *v, const char *data, size_t size, struct err *e)
{
	size_t name = strnlen(data, size);
	struct packed content = { 0 };
	char principal[32];
	const struct bus_order order = { data, principal, &content, on_ended, v };

	if (name == size)
		return err_set(e, ERR_invalid_argument, "no name of a message");

	struct blob bytes = { (void *)(uintptr_t)(data + name + 1), size - name - 1 };
	int status = wire_raise(&bytes, &content, e);

	snprintf(principal, sizeof principal, "local:%u", (unsigned)v->uid);
	if (status == 0)
		status = bus_order(&order, e);
	for (size_t i = 0; i < content.count; i++)
		blob_wipe(&content.blobs[i]);
	packed_clear(&content);
	return status;
}

/* ---- connections ---- */

static void
on_late(void *self)
{
	struct visitor *v = self;

	v->timer = 0;
	loop_forget(v->fd);
	drop(v);
}

/* One packet, and the connection is only written to from then on. */
static void
on_readable(void *self, uint32_t events)
{
	static char data[OPERATOR_BYTES];
	struct visitor *v = self;
	ssize_t n = recv(v->fd, data, sizeof data, MSG_DONTWAIT | MSG_TRUNC);
	struct err e;

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	loop_forget(v->fd);
	loop_unset(v->timer);
	if (n <= 0 || n > OPERATOR_BYTES)
		drop(v);
	else if (pass_on(v, data, (size_t)n, &e) < 0)
		on_ended(v, NULL, &e);
	explicit_bzero(data, sizeof data);
}

/* The uid of a peer that may give orders; false: it may not. */
static bool
may_order(int fd, uid_t *uid)
{
	struct ucred who;
	socklen_t size = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return false;
	*uid = who.uid;
	return who.uid == 0 || who.uid == starter;
}

static void
on_connection(void *unused, uint32_t events)
{
	auto_fd int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct visitor *v = visitors;
	struct err e;
	uid_t uid;

	(void)unused;
	(void)events;
	while (v < visitors + VISITORS && v->fd != 0)
		v++;
	if (fd < 0 || v == visitors + VISITORS)
		return;
	if (!may_order(fd, &uid)) {
		log_warn("a connection of another user was refused");
		return;
	}
	if (loop_watch(fd, EPOLLIN | EPOLLRDHUP, on_readable, v, &e) < 0) {
		log_warn("a connection was refused", LOG_E(&e));
		return;
	}
	*v = (struct visitor){ .fd = take_fd(&fd), .uid = uid };
	v->timer = loop_after(ARRIVAL_MS, on_late, v);
}

/* ---- the socket ---- */

int
operator_name(enum peer of, char *path, size_t room, const char *run, struct err *e)
{
	const char *name = edge_peer_name(of);

	if (snprintf(path, room, "%s/%s.sock", run, name) < (int)room)
		return 0;
	return err_set(e, ERR_invalid_argument, "%s/%s.sock: too long for a socket", run, name);
}

static bool
is_needed(enum peer self, const struct route *routes)
{
	for (const struct route *r = routes; r != NULL && r->message != MSG_none; r++)
		if (message_operator(r->message) == self)
			return true;
	return false;
}

int
operator_open(enum peer self, const struct route *routes, const char *run, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!is_needed(self, routes))
		return 0;
	if (operator_name(self, address.sun_path, sizeof address.sun_path, run, e) < 0)
		return -1;
	starter = geteuid();
	if (mkdir(run, starter == 0 ? 0755 : 0700) == 0 && starter == 0 && chmod(run, 0755) < 0)
		return err_sys(e, "chmod %s", run);
	/* A killed process leaves its socket.  The lock of the state directory proves that none is
	 * alive. */
	unlink(address.sun_path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
	    chmod(address.sun_path, 0600) < 0 || listen(listener, VISITORS) < 0)
		return err_sys(e, "listen at %s", address.sun_path);
	return 0;
}

int
operator_start(struct err *e)
{
	return listener < 0 ? 0 : loop_watch(listener, EPOLLIN, on_connection, NULL, e);
}

void
operator_stop(void)
{
	for (struct visitor *v = visitors; v < visitors + VISITORS; v++)
		if (v->fd != 0) {
			loop_forget(v->fd);
			drop(v);
		}
	if (listener < 0)
		return;
	loop_forget(listener);
	close(listener);
	listener = -1;
}
