/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.c - standard input and output, driven by the loop.
 *
 * Theory of operation: turn() runs before each wait of the loop.  It writes queued output,
 * continues with lines that were read while the client did not read, and decides what to watch
 * next.  When the client closes its side, calls get a grace period to end.  If it stops reading
 * for good, they get none.  The gateway does not read from a client that does not read, so it
 * watches such a client for a hang-up.
 */
#include "gateway/transport/stdio.h"

#include "common/credential/scope.h"

#include "gateway/mcp/dispatch.h"
#include "gateway/options.h"
#include "gateway/rpc/outbox.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	PAUSE_BYTES = 1 << 20, /* of queued replies: the gateway stops reading */
	SLOW_BYTES = 1 << 18,  /* of queued replies: progress is omitted */
	SPARE_BYTES = 1 << 20, /* beyond max_output_bytes, for error replies that say so */

	/* Replies are written before all lines are handled, once so many bytes are queued and so
	 * many lines were handled.  A write for each reply would cost more than it gains. */
	EARLY_BYTES = 2048,
	EARLY_LINES = 3,
	FLUSH_MS = 200, /* for the last replies, after calls were cancelled */
};

enum stream {
	STREAM_polled,
	STREAM_socket,
	STREAM_plain, /* epoll refuses it, because it never blocks: a file, /dev/null */
};

static struct {
	struct account account;
	struct client client;
	struct lines in;
	struct outbox out;
	enum stream from, to;
	uint32_t watched; /* events that stdin is watched for */
	bool writing;     /* stdout is watched for room */
	bool ended, gone; /* stdin has ended; stdout has no reader */
	bool hung_up;     /* the client closed stdin; unread data may remain */
	bool took;        /* the client read something recently */
} io;

/* ---- the streams ---- */

/*
 * O_NONBLOCK belongs to the open file, which the parent and its shell may share.  So it is set on
 * a newly opened one.  Only if the open is refused (a pipe of another user) is it set on the
 * shared one.
 */
static int
prepare(int fd, int mode, enum stream *kind, struct err *e)
{
	struct stat is;
	char path[32];

	if (fstat(fd, &is) < 0)
		return err_sys(e, "standard %s", fd == 0 ? "input" : "output");
	*kind = S_ISSOCK(is.st_mode) ? STREAM_socket : STREAM_polled;
	if (S_ISREG(is.st_mode))
		*kind = STREAM_plain;
	if (*kind != STREAM_polled)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

	auto_fd int own = open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (own >= 0 && dup3(own, fd, O_CLOEXEC) >= 0)
		return 0;
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return err_sys(e, "make standard %s non-blocking", fd == 0 ? "input" : "output");
	return 0;
}

static ssize_t
read_some(void *data, size_t size)
{
	return io.from == STREAM_socket ? recv(STDIN_FILENO, data, size, MSG_DONTWAIT)
	                                : read(STDIN_FILENO, data, size);
}

/* ---- the client ---- */

static void
gone(const char *how, int sys)
{
	if (io.gone)
		return;
	log_info("client disconnected", LOG_S("how", how), LOG_N("errno", sys));
	io.gone = io.ended = true;
	io.watched = 0;
	outbox_clear(&io.out);
	loop_forget(STDIN_FILENO);
	loop_forget(STDOUT_FILENO);
	client_give_up(&io.client, true);
	daemon_end(NULL);
}

/* Replaces a reply that does not fit by an error that says so, for the same request. */
static json_t *
apology(const json_t *message, const struct err *e)
{
	json_t *id = json_object_get(message, "id"), *each;

	if (json_is_array(message)) {
		json_t *all = json_array();
		size_t i;

		json_array_foreach((json_t *)message, i, each)
		    json_array_append_new(all, apology(each, e));
		return all;
	}
	return jsonrpc_error_data(id, RPC_INTERNAL, e->text,
	    json_pack("{s:s, s:s}", "code", err_name(e->code), "hint",
		"Read the pending replies, then repeat the request for less data."));
}

static void
send_message(struct client *client, struct exchange *none, const json_t *message)
{
	struct err e;

	(void)client;
	(void)none;
	if (message == NULL || io.gone ||
	    outbox_add(&io.out, message, options.max_output_bytes, &e) == 0)
		return;
	log_warn("message to the client dropped", LOG_E(&e));
	if (json_object_get(message, "method") != NULL)
		return; /* progress */

	json_t *instead = apology(message, &e);

	if (outbox_add(&io.out, instead, options.max_output_bytes + SPARE_BYTES, &e) < 0)
		log_error("error reply to the client dropped", LOG_E(&e));
	json_decref(instead);
}

static bool
is_slow(const struct client *client, const struct exchange *none)
{
	(void)client;
	(void)none;
	return io.out.bytes > SLOW_BYTES;
}

static const struct transport by_stdio = {
	.send = send_message, .answer = send_message, .slow = is_slow
};

/* ---- the end ---- */

static void
on_late(void *self)
{
	(void)self;
	daemon_end(NULL);
}

static void
on_grace_over(void *self)
{
	(void)self;
	client_give_up(&io.client, false);
	loop_after(FLUSH_MS, on_late, NULL);
}

/* The end of stdin, and the data before it, cannot be read until the client reads some of its
 * queued output. */
static void
on_hung_up(void *self)
{
	if (io.ended)
		return;
	if (!io.took) {
		on_grace_over(self);
		return;
	}
	io.took = false;
	loop_after((int64_t)options.eof_grace_ms, on_hung_up, self);
}

static void
end_of_input(void)
{
	struct line line;

	io.ended = true;
	while (lines_next(&io.in, &line) || lines_last(&io.in, &line))
		dispatch_line(&io.client, NULL, &line);
	lines_free(&io.in);
	client_drain(&io.client);
	loop_after((int64_t)options.eof_grace_ms, on_grace_over, NULL);
}

/* ---- the loop ---- */

static bool
may_read(void)
{
	return !io.ended && io.out.bytes <= PAUSE_BYTES;
}

/* false: no more data now. */
static bool
read_once(void)
{
	size_t room;
	char *to = lines_room(&io.in, &room);

	if (to == NULL) {
		log_error("out of memory, cannot read from the client");
		return false;
	}
	ssize_t n = read_some(to, room);
	if (n > 0)
		lines_filled(&io.in, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) /* a terminal after a hang-up and a socket after a reset have ended, too */
		end_of_input();
	return n > 0;
}

static void
flush(void)
{
	size_t before = io.out.bytes;

	if (!io.gone && outbox_write(&io.out, STDOUT_FILENO, io.to == STREAM_socket) < 0)
		gone("write", errno);
	io.took |= io.out.bytes < before;
}

/* true: there were lines. */
static bool
take_lines(void)
{
	struct line line;
	unsigned lines = 0;
	bool any = false, full = false;

	while (may_read() && lines_next(&io.in, &line)) {
		any = true;
		dispatch_line(&io.client, NULL, &line);
		if (full || ++lines < EARLY_LINES || io.out.bytes < EARLY_BYTES)
			continue;
		lines = 0;
		flush();
		full = io.out.bytes > 0;
	}
	return any;
}

static void
on_readable(void *self, uint32_t events)
{
	if (may_read()) {
		/* After the end all lines are handled at once, however much output is queued by
		 * then. */
		take_lines();
		if (may_read() && read_once())
			take_lines();
	} else if ((events & (EPOLLHUP | EPOLLRDHUP)) != 0 && !io.hung_up) {
		io.hung_up = true;
		loop_after((int64_t)options.eof_grace_ms, on_hung_up, self);
	}
}

static void
on_writable(void *self, uint32_t events)
{
	(void)self;
	if ((events & (EPOLLERR | EPOLLHUP)) != 0)
		gone("stdout has no reader", 0);
	else
		flush();
}

/* After a hang-up, epoll would report the peer without end. */
static uint32_t
wanted(void)
{
	if (io.ended || io.from == STREAM_plain)
		return 0;
	if (may_read())
		return EPOLLIN;
	return io.hung_up ? 0 : EPOLLRDHUP;
}

static void
watch_input(void)
{
	uint32_t want = wanted();
	struct err e;

	if (want == io.watched)
		return;
	if (io.watched != 0)
		loop_forget(STDIN_FILENO);
	if (want != 0 && loop_watch(STDIN_FILENO, want, on_readable, NULL, &e) < 0) {
		io.from = STREAM_plain;
		want = 0;
	}
	io.watched = want;
}

static void
watch_output(void)
{
	bool want = io.out.bytes > 0 && io.to != STREAM_plain;
	struct err e;

	if (want == io.writing)
		return;
	if (loop_change(STDOUT_FILENO, want ? EPOLLOUT : 0, &e) < 0)
		gone("watch", e.sys);
	io.writing = want;
}

/* true: do not sleep, because more input is ready here, or more follows what was sent on the
 * bus. */
static bool
turn(void *self)
{
	(void)self;
	bool any = take_lines();

	if (io.from == STREAM_plain && may_read() && read_once())
		any |= take_lines();
	flush();
	if (io.gone)
		return false;
	if (io.ended && io.client.pending == NULL && io.out.bytes == 0) {
		daemon_end(NULL);
		return false;
	}
	watch_input();
	watch_output();
	return any || (io.from == STREAM_plain && may_read());
}

int
stdio_prepare(const struct owner *owner, struct err *e)
{
	io.account = (struct account){ .owner = *owner };
	io.client =
	    (struct client){ .by = &by_stdio, .account = &io.account, .scopes = SCOPES_LOCAL };
	io.in.limit = options.max_message_bytes;
	if (prepare(STDIN_FILENO, O_RDONLY, &io.from, e) < 0)
		return -1;
	return prepare(STDOUT_FILENO, O_WRONLY, &io.to, e);
}

int
stdio_start(struct err *e)
{
	if (io.to != STREAM_plain && loop_watch(STDOUT_FILENO, 0, on_writable, NULL, e) < 0)
		io.to = STREAM_plain;
	return loop_before_wait(turn, NULL, e);
}

void
stdio_stop(void)
{
	client_give_up(&io.client, false);
	outbox_write(&io.out, STDOUT_FILENO, io.to == STREAM_socket);
	outbox_clear(&io.out);
	lines_free(&io.in);
	client_close(&io.client);
}
