/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - connections of one user's clients, each with one request of one line.
 *
 * Trusts the kernel to identify the peer: a connection of another user is closed before a byte is
 * read. A client may be slow, silent or disconnected; its line and its time are bounded.
 */
#include "compose/cloister/supervisor/control.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
	VISITORS = 256,
	LINE_BYTES = 32,
	LINE_MS = 5000,
	DIFFER_BYTES = 4096,
};

enum stage {
	FREE,
	ASKS,  /* its line is incomplete */
	HOLDS, /* it has a lease */
	WAITS, /* for the shutdown */
};

struct visitor {
	enum stage stage;
	int fd, given; /* given: the descriptor sent with the line, or -1 */
	char line[LINE_BYTES];
	size_t have;
	uint64_t timer;
};

static struct visitor visitors[VISITORS];
static const struct control *hooks;
static int listener = -1;
static char path[PLACE_SOCKET];

static size_t
count(enum stage stage)
{
	size_t n = 0;

	for (const struct visitor *p = visitors; p < visitors + VISITORS; p++)
		n += p->stage == stage;
	return n;
}

size_t
control_leases(void)
{
	return count(HOLDS);
}

bool
control_is_asked(void)
{
	return count(ASKS) > 0;
}

/* ---- one connection ---- */

static void
drop(struct visitor *p)
{
	bool held = p->stage == HOLDS;

	loop_forget(p->fd);
	loop_unset(p->timer);
	close(p->fd);
	if (p->given >= 0)
		close(p->given);
	p->stage = FREE;
	if (held)
		hooks->leases_changed();
}

static void
on_late(void *self)
{
	struct visitor *p = self;

	p->timer = 0;
	drop(p);
}

/* A short reply always fits into an empty socket buffer. If it does not, the client does not
 * read. */
static void
answer(struct visitor *p, const char *text)
{
	size_t size = strlen(text);

	if (send(p->fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
		log_debug("a reply could not be sent", LOG_N("bytes", size));
}

static void
hold(struct visitor *p)
{
	loop_unset(p->timer);
	p->timer = 0;
	p->stage = HOLDS;
	hooks->leases_changed();
}

static void
on_lease(struct visitor *p)
{
	answer(p, "ok\n");
	hold(p);
}

static void
on_adopt(struct visitor *p)
{
	struct err e;
	int given = take_fd(&p->given);

	if (given < 0 || control_hold(given, &e) < 0)
		answer(p, "exactly one descriptor required\n");
	else
		answer(p, "ok\n");
	drop(p);
}

static void
on_stay(struct visitor *p)
{
	hooks->stay();
	answer(p, "ok\n");
	drop(p);
}

/* A client's text is logged and shown; what is too long is cut. */
static void
on_differ(struct visitor *p)
{
	char text[DIFFER_BYTES + 1];
	ssize_t n = p->given < 0 ? -1 : pread(p->given, text, DIFFER_BYTES, 0);

	if (n <= 0) {
		answer(p, "exactly one descriptor of a text required\n");
	} else {
		text[n] = '\0';
		utf8_tame(text);
		hooks->differ(text);
		answer(p, "ok\n");
	}
	drop(p);
}

static void
on_status(struct visitor *p)
{
	json_t *status = hooks->status();
	auto_free char *text = json_dumps(status, JSON_COMPACT);

	json_decref(status);
	if (text != NULL)
		answer(p, text);
	answer(p, "\n");
	drop(p);
}

static void
on_down(struct visitor *p)
{
	loop_unset(p->timer);
	p->timer = 0;
	p->stage = WAITS;
	hooks->down();
}

static const struct {
	const char *line;
	void (*handle)(struct visitor *);
} commands[] = {
	{ "lease\n", on_lease },
	{ "adopt\n", on_adopt },
	{ "stay\n", on_stay },
	{ "differ\n", on_differ },
	{ "status\n", on_status },
	{ "down\n", on_down },
};

static void
dispatch(struct visitor *p)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].line, p->line) == 0) {
			commands[i].handle(p);
			return;
		}
	answer(p, "unknown command; known: lease, adopt, stay, differ, status, down\n");
	drop(p);
}

static void
read_line(struct visitor *p)
{
	size_t nfds = 1;
	int fd = -1;
	ssize_t n = fdio_receive(
	    p->fd, p->line + p->have, LINE_BYTES - 1 - p->have, &fd, &nfds, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		drop(p);
		return;
	}
	if (nfds == 1) {
		if (p->given >= 0)
			close(p->given);
		p->given = fd;
	}
	p->have += (size_t)n;
	p->line[p->have] = '\0';
	if (p->line[p->have - 1] == '\n')
		dispatch(p);
	else if (p->have == LINE_BYTES - 1)
		drop(p);
}

static void
on_readable(void *self, uint32_t events)
{
	struct visitor *p = self;

	(void)events;
	/* A client that has a lease or waits has no more requests, so this is the end of its
	 * connection. */
	if (p->stage == ASKS)
		read_line(p);
	else
		drop(p);
}

/* Takes fd, even if it fails. */
static struct visitor *
visitor_new(int fd, struct err *e)
{
	auto_fd int mine = fd;
	struct visitor *p = visitors;

	while (p < visitors + VISITORS && p->stage != FREE)
		p++;
	if (p == visitors + VISITORS) {
		err_set(e, ERR_queue_full, "%d connections are open", VISITORS);
		return NULL;
	}
	if (loop_watch(fd, EPOLLIN | EPOLLRDHUP, on_readable, p, e) < 0)
		return NULL;
	*p = (struct visitor){ .stage = ASKS, .fd = take_fd(&mine), .given = -1 };
	p->timer = loop_after(LINE_MS, on_late, p);
	return p;
}

int
control_hold(int fd, struct err *e)
{
	struct visitor *p = visitor_new(fd, e);

	if (p == NULL)
		return -1;
	hold(p);
	return 0;
}

/* ---- the socket ---- */

static bool
may_ask(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

static void
on_connection(void *self, uint32_t events)
{
	struct err e;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)self, (void)events;
	if (fd < 0)
		return;
	if (!may_ask(fd)) {
		log_warn("a connection of another user was refused");
		close(fd);
		return;
	}
	if (visitor_new(fd, &e) == NULL)
		log_warn("a connection was refused", LOG_E(&e));
}

int
control_open(const struct control *with, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	hooks = with;
	if (place_socket("supervisor.sock", path, e) < 0)
		return -1;
	memcpy(address.sun_path, path, sizeof(path));
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A killed supervisor leaves its socket. The lock proves that none is alive. */
	unlink(path);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0600) < 0 || listen(listener, 64) < 0)
		return err_sys(e, "listen at %s", path);
	return loop_watch(listener, EPOLLIN, on_connection, NULL, e);
}

void
control_shut(void)
{
	if (listener < 0)
		return;
	unlink(path);
	loop_forget(listener);
	close(listener);
	listener = -1;
	for (struct visitor *p = visitors; p < visitors + VISITORS; p++)
		if (p->stage == ASKS)
			drop(p);
}

void
control_close(void)
{
	control_shut();
	for (struct visitor *p = visitors; p < visitors + VISITORS; p++) {
		if (p->stage == WAITS)
			answer(p, "ok\n");
		if (p->stage != FREE)
			drop(p);
	}
}
