/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.c - orders of the person at the machine.
 *
 * Trusts the kernel for the uid of a peer: root, and without separate uids the user who runs the
 * daemons.  No box can reach the socket: its directory is in no box.  No gateway of a separate uid
 * can enter it.  An order is decoded strictly all the same, and connections and their time are
 * bounded.
 */
#include "executor/approvald/operator.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/codec/wire.h"
#include "common/daemon/daemon.h"
#include "executor/approvald/answer.h"
#include "executor/approvald/kind.h"
#include "executor/approvald/report.h"
#include "executor/approvald/request.h"
#include "executor/approvald/store.h"
#include "executor/approvald/until.h"

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
	ORDER_BYTES = 4096,
	ORDER_MS = 5000,
	PAGE = 64,
};

struct visitor {
	int fd; /* 0: free */
	uid_t uid;
	uint64_t timer;
};

static struct visitor visitors[VISITORS];
static int listener = -1;
static uid_t starter; /* who started this daemon; the jail has no geteuid(2) */

/* ---- orders ---- */

static bool
any(const struct approval *a, const void *unused)
{
	(void)a;
	(void)unused;
	return true;
}

static int
on_list(const struct approval_order *o, uid_t uid, struct approval_list *reply, struct err *e)
{
	(void)uid;
	(void)e;
	*reply = answer_page(o->kind, o->request_id, reply->approvals.items, any, NULL);
	return 0;
}

static void
sign(char by[32], uid_t uid)
{
	snprintf(by, 32, "uid %u", (unsigned)uid);
}

static void
show(struct approval_list *reply, const struct approval *a)
{
	reply->approvals.items[0] = *a;
	reply->approvals.count = 1;
}

static int
on_answer(const struct approval_order *o, uid_t uid, struct approval_list *reply, struct err *e)
{
	struct approval *a = o->request_id == NULL ? NULL : store_find(o->request_id);
	char by[32];
	const struct answer given = { .verdict = o->verdict,
		.duration = o->duration,
		.channel = approval_channel_terminal,
		.until = o->until,
		.by = by };

	sign(by, uid);
	if (a == NULL || a->kind != o->kind)
		return err_set(e, ERR_not_found, "no request %.16s",
		    o->request_id != NULL ? o->request_id : "without an id");
	if (answer_apply(a, &given, timestamp_ms(), e) < 0)
		return -1;
	show(reply, a);
	return 0;
}

static char *
copy(const char *text)
{
	char *mine = strdup(text);

	must(mine != NULL);
	return mine;
}

static int
grant(const struct approval_order *o, uid_t uid, struct approval *fresh, struct err *e)
{
	char subject[KIND_SUBJECT], local[32], by[32];

	if (o->subject == NULL)
		return err_set(e, ERR_invalid_argument, "subject required");
	if (kind_row(o->kind)->check(o->subject, subject, e) < 0)
		return -1;
	snprintf(local, sizeof local, "local:%u", (unsigned)uid);
	sign(by, uid);
	*fresh = (struct approval){ .kind = o->kind,
		.state = approval_state_approved,
		.duration = approval_duration_namespace,
		.created_ms = timestamp_ms(),
		.answered_ms = timestamp_ms(),
		.channel = approval_channel_terminal,
		.granted = true };
	if (until_read(fresh->duration, o->until, fresh->created_ms, &fresh->until_ms, e) < 0)
		return -1;
	fresh->subject = copy(subject);
	fresh->principal = copy(o->principal != NULL ? o->principal : local);
	fresh->answered_by = copy(by);
	if (o->namespace != NULL && strcmp(o->namespace, "default") != 0)
		fresh->namespace = copy(o->namespace);
	return 0;
}

static int
on_grant(const struct approval_order *o, uid_t uid, struct approval_list *reply, struct err *e)
{
	struct approval fresh;
	struct approval *a = grant(o, uid, &fresh, e) < 0 ? NULL : store_add(&fresh, e);

	if (a == NULL)
		return -1;
	if (report(a, e) < 0) {
		store_remove(a);
		return -1;
	}
	show(reply, a);
	return 0;
}

static int (*const actions[approval_action_COUNT])(
    const struct approval_order *, uid_t, struct approval_list *, struct err *) = {
	[approval_action_list] = on_list,
	[approval_action_answer] = on_answer,
	[approval_action_grant] = on_grant,
};

/* ---- packets ---- */

static void
send_packet(int fd, char kind, enum msg_id id, void *message)
{
	struct packed packed = { 0 };
	struct blob bytes = { 0 };
	struct err e = { 0 };
	auto_free char *whole = NULL;

	if (wire_encode(id, message, &packed, &e) == 0 && wire_flatten(&packed, &bytes, &e) == 0 &&
	    (whole = malloc(bytes.size + 1)) != NULL) {
		whole[0] = kind;
		memcpy(whole + 1, bytes.data, bytes.size);
		if (send(fd, whole, bytes.size + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			err_sys(&e, "send");
	}
	if (e.code != ERR_none)
		log_warn("an operator got no reply", LOG_E(&e));
	packed_clear(&packed);
	blob_clear(&bytes);
}

static int
read_order(const char *data, size_t size, struct approval_order *o, struct err *e)
{
	struct blob bytes = blob_copy(data, size);
	struct packed packed = { 0 };
	int status = bytes.data == NULL ? err_sys(e, "order") : wire_raise(&bytes, &packed, e);

	if (status == 0)
		status = wire_decode(MSG_approval_order, &packed, o, e);
	packed_clear(&packed);
	blob_clear(&bytes);
	return status;
}

static void
obey(int fd, uid_t uid, const char *data, size_t size)
{
	struct approval items[PAGE];
	struct approval_list reply = { .approvals = { items, 0 } };
	struct approval_order o = { 0 };
	struct err e = { 0 };

	request_sweep(timestamp_ms());
	if (read_order(data, size, &o, &e) < 0 || actions[o.action](&o, uid, &reply, &e) < 0) {
		struct failure failure = { .code = (char *)(uintptr_t)err_name(e.code),
			.text = e.text };

		send_packet(fd, 1, MSG_failure, &failure);
	} else {
		send_packet(fd, 0, MSG_approval_list, &reply);
	}
	message_clear(MSG_approval_order, &o);
}

/* ---- connections ---- */

static void
drop(struct visitor *v)
{
	loop_forget(v->fd);
	loop_unset(v->timer);
	close(v->fd);
	*v = (struct visitor){ 0 };
}

static void
on_late(void *self)
{
	struct visitor *v = self;

	v->timer = 0;
	drop(v);
}

static void
on_readable(void *self, uint32_t events)
{
	struct visitor *v = self;
	char data[ORDER_BYTES];
	ssize_t n = recv(v->fd, data, sizeof data, MSG_DONTWAIT | MSG_TRUNC);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0 && n <= ORDER_BYTES)
		obey(v->fd, v->uid, data, (size_t)n);
	drop(v);
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
	v->timer = loop_after(ORDER_MS, on_late, v);
}

/* ---- the socket ---- */

int
operator_open(struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int n =
	    snprintf(address.sun_path, sizeof address.sun_path, "%s/approve.sock", daemon_run());

	if (n >= (int)sizeof address.sun_path)
		return err_set(e, ERR_invalid_argument, "%s/approve.sock: too long for a socket",
		    daemon_run());
	/* The bus makes the directory only after this. */
	starter = geteuid();
	if (mkdir(daemon_run(), starter == 0 ? 0755 : 0700) == 0 && starter == 0 &&
	    chmod(daemon_run(), 0755) < 0)
		return err_sys(e, "chmod %s", daemon_run());
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
	return loop_watch(listener, EPOLLIN, on_connection, NULL, e);
}

void
operator_stop(void)
{
	for (struct visitor *v = visitors; v < visitors + VISITORS; v++)
		if (v->fd != 0)
			drop(v);
	if (listener < 0)
		return;
	loop_forget(listener);
	close(listener);
	listener = -1;
}
