/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.c - a small HTTP responder on the daemon's loop.
 *
 * Trusts nobody who connects. A request has at most HEAD_BYTES and TIME_MS, and at most VISITORS
 * are open; one more is closed at once. Each connection gets one reply and is closed. On loopback a
 * request must name loopback as its host, because a web page can resolve its own name to this
 * machine (DNS rebinding).
 */
#include "common/daemon/monitor.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/metric/metric.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

enum {
	VISITORS = 8,
	BACKLOG = 16,
	HEAD_BYTES = 4096,
	TIME_MS = 5000,
	ASK_MS = 3000,
	REPLY_BYTES = 1024,
};

struct visitor {
	int fd; /* -1: free */
	uint64_t timer;
	size_t used, size, sent;
	char *reply;
	char head[HEAD_BYTES + 1];
};

union address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in ip4;
};

static struct {
	struct monitor is;
	int fd;
	bool tcp;
	struct visitor visitors[VISITORS];
} monitor = { .fd = -1 };

/* ---- the place ---- */

/* A path that ends with a slash is a directory, for a socket that is named after the daemon. */
static int
parse_path(const struct monitor *m, struct sockaddr_un *to, struct err *e)
{
	bool directory = m->where[strlen(m->where) - 1] == '/';
	bool first = strcmp(m->instance, "1") == 0;
	int n;

	to->sun_family = AF_UNIX;
	n = snprintf(to->sun_path, sizeof to->sun_path, "%s%s%s%s%s", m->where,
	    directory ? m->name : "", directory && !first ? "-" : "",
	    directory && !first ? m->instance : "", directory ? ".sock" : "");
	if (n < 0 || (size_t)n >= sizeof to->sun_path)
		return err_set(e, ERR_invalid_argument, "metrics: %s is longer than %zu bytes",
		    m->where, sizeof to->sun_path - 1);
	return 0;
}

/* "9464" or "127.0.0.1:9464". */
static int
parse_port(const struct monitor *m, struct sockaddr_in *to, struct err *e)
{
	const char *colon = strrchr(m->where, ':'), *digits = colon != NULL ? colon + 1 : m->where;
	char host[INET_ADDRSTRLEN] = "127.0.0.1", *end;
	unsigned long port = strtoul(digits, &end, 10);

	if (colon != NULL)
		snprintf(host, sizeof host, "%.*s", (int)(colon - m->where), m->where);
	to->sin_family = AF_INET;
	if (*digits < '0' || *digits > '9' || *end != '\0' || port < 1 || port > 65535 ||
	    inet_pton(AF_INET, host, &to->sin_addr) != 1 ||
	    ntohl(to->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return err_set(e, ERR_invalid_argument,
		    "metrics: '%s' is neither an absolute path, nor a port, nor 127.0.0.1:PORT",
		    m->where);
	to->sin_port = htons((uint16_t)port);
	return 0;
}

/* Returns the size of the address, or -1. */
static int
parse(const struct monitor *m, union address *to, struct err *e)
{
	*to = (union address){ 0 };
	if (*m->where == '/')
		return parse_path(m, &to->local, e) < 0 ? -1 : (int)sizeof to->local;
	return parse_port(m, &to->ip4, e) < 0 ? -1 : (int)sizeof to->ip4;
}

/* ---- listening ---- */

static bool
is_served(const union address *to, int size)
{
	auto_fd int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && (connect(fd, &to->any, (socklen_t)size) == 0 || errno != ECONNREFUSED);
}

/* The socket of an earlier process is still there, because the jail does not let it be removed. */
static int
bind_to(int fd, const union address *to, int size)
{
	mode_t before = umask(0117);
	int status = bind(fd, &to->any, (socklen_t)size);

	if (status < 0 && errno == EADDRINUSE && to->any.sa_family == AF_UNIX &&
	    !is_served(to, size) && unlink(to->local.sun_path) == 0)
		status = bind(fd, &to->any, (socklen_t)size);
	else if (status < 0)
		errno = EADDRINUSE;
	umask(before);
	return status;
}

static int
need_directory(const struct monitor *m, struct err *e)
{
	if (*m->where != '/' || m->where[strlen(m->where) - 1] != '/')
		return 0;

	struct stat is;

	if (stat(m->where, &is) == 0)
		return 0;
	auto_fd int fd = fdio_directory(AT_FDCWD, m->where, 0755, e);
	return fd < 0 ? err_add(e, "metrics") : 0;
}

int
monitor_open(const struct monitor *m, struct err *e)
{
	const int on = 1;
	union address to;

	monitor.is = *m;
	for (struct visitor *v = monitor.visitors; v < monitor.visitors + VISITORS; v++)
		v->fd = -1;
	if (*m->where == '\0')
		return 0;

	int size = parse(m, &to, e);

	if (size < 0 || need_directory(m, e) < 0)
		return -1;
	monitor.tcp = to.any.sa_family == AF_INET;
	auto_fd int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "metrics");
	if (monitor.tcp)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind_to(fd, &to, size) < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, "metrics: listen on %s", m->where);
	if (!monitor.tcp && lchown(to.local.sun_path, m->uid, (gid_t)-1) < 0)
		return err_sys(e, "metrics: own %s", to.local.sun_path);
	monitor.fd = take_fd(&fd);
	return 0;
}

/* ---- pages ---- */

void
monitor_write(FILE *to)
{
	if (monitor.is.measure != NULL)
		monitor.is.measure();
	metric_write(to);
	fputs("# EOF\n", to);
}

static int
write_health(FILE *to)
{
	const char *fault = monitor.is.fault();

	fprintf(to, "%s\n", fault != NULL ? fault : "ok");
	return fault != NULL ? 503 : 200;
}

static int
write_ready(FILE *to)
{
	const char *missing = monitor.is.missing();

	fprintf(to, "%s\n", missing != NULL ? missing : "ready");
	return missing != NULL ? 503 : 200;
}

static int
write_metrics(FILE *to)
{
	monitor_write(to);
	return 200;
}

static int
write_nothing(FILE *to)
{
	fputs("not found\n", to);
	return 404;
}

static int
write_refusal(FILE *to)
{
	fputs("the host of the request is not loopback\n", to);
	return 421;
}

static const struct page {
	const char *path, *type;
	int (*write)(FILE *);
} pages[] = {
	{ "/healthz", "text/plain", write_health },
	{ "/readyz", "text/plain", write_ready },
	{ "/metrics", "application/openmetrics-text; version=1.0.0; charset=utf-8", write_metrics },
}, absent = { "", "text/plain", write_nothing }, refused = { "", "text/plain", write_refusal };

/* Does the head name loopback as its host? */
static bool
is_host_local(const char *head)
{
	static const char *const local[] = { "127.0.0.1", "localhost" };
	const char *line = strcasestr(head, "\nhost:");

	if (line == NULL)
		return false;
	line += strlen("\nhost:");
	line += strspn(line, " \t");
	for (size_t i = 0; i < COUNT(local); i++) {
		size_t n = strlen(local[i]);

		if (strncasecmp(line, local[i], n) == 0 && strchr(":\r\n \t", line[n]) != NULL)
			return true;
	}
	return false;
}

static const struct page *
find_page(const char *head)
{
	const char *path = head + strlen("GET ");

	if (strncmp(head, "GET ", strlen("GET ")) != 0)
		return &absent;
	if (monitor.tcp && !is_host_local(head))
		return &refused;
	for (const struct page *page = pages; page < pages + COUNT(pages); page++) {
		size_t n = strlen(page->path);

		if (strncmp(path, page->path, n) == 0 && (path[n] == ' ' || path[n] == '?'))
			return page;
	}
	return &absent;
}

static char *
make_reply(const struct page *page, size_t *size)
{
	auto_free char *body = NULL;
	size_t body_size = 0;
	char *text = NULL;
	FILE *to = open_memstream(&body, &body_size);

	if (to == NULL)
		return NULL;

	int status = page->write(to);

	if (fclose(to) != 0 || (to = open_memstream(&text, size)) == NULL)
		return NULL;
	fprintf(to,
	    "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	    "Connection: close\r\nX-Content-Type-Options: nosniff\r\n\r\n",
	    status, status == 200 ? "OK" : "Error", page->type, body_size);
	fwrite(body, 1, body_size, to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- visitors ---- */

static void
dismiss(void *self)
{
	struct visitor *v = self;

	loop_unset(v->timer);
	loop_forget(v->fd);
	close(v->fd);
	free(v->reply);
	*v = (struct visitor){ .fd = -1 };
}

/* Returns true when everything was sent, or nothing more can be. */
static bool
send_reply(struct visitor *v)
{
	ssize_t n = write(v->fd, v->reply + v->sent, v->size - v->sent);

	if (n > 0)
		v->sent += (size_t)n;
	return v->sent == v->size || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Returns true if the connection is to be closed. */
static bool
read_head(struct visitor *v)
{
	ssize_t n = read(v->fd, v->head + v->used, HEAD_BYTES - v->used);
	struct err e;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		return true;
	v->used += (size_t)n;
	v->head[v->used] = '\0';
	if (strstr(v->head, "\r\n\r\n") == NULL)
		return v->used == HEAD_BYTES || strlen(v->head) < v->used;
	v->reply = make_reply(find_page(v->head), &v->size);
	return v->reply == NULL || send_reply(v) || loop_change(v->fd, EPOLLOUT, &e) < 0;
}

static void
on_visitor(void *self, uint32_t events)
{
	struct visitor *v = self;

	(void)events;
	if (v->reply == NULL ? read_head(v) : send_reply(v))
		dismiss(v);
}

static void
on_listening(void *self, uint32_t events)
{
	struct visitor *v = monitor.visitors;
	struct err e;

	(void)self;
	(void)events;
	auto_fd int fd = accept4(monitor.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (v < monitor.visitors + VISITORS && v->fd >= 0)
		v++;
	if (fd < 0 || v == monitor.visitors + VISITORS ||
	    loop_watch(fd, EPOLLIN, on_visitor, v, &e) < 0)
		return;
	v->fd = take_fd(&fd);
	v->timer = loop_after(TIME_MS, dismiss, v);
}

int
monitor_start(struct err *e)
{
	if (monitor.fd < 0)
		return 0;
	log_info("serving metrics", LOG_S("at", monitor.is.where));
	return loop_watch(monitor.fd, EPOLLIN, on_listening, NULL, e);
}

void
monitor_stop(void)
{
	if (monitor.fd < 0)
		return;
	for (struct visitor *v = monitor.visitors; v < monitor.visitors + VISITORS; v++)
		if (v->fd >= 0)
			dismiss(v);
	loop_forget(monitor.fd);
	close(take_fd(&monitor.fd));
}

/* ---- another process ---- */

/* The daemon closes after its reply. */
static int
read_reply(int fd, char reply[REPLY_BYTES], struct err *e)
{
	size_t size = 0;
	ssize_t n = 1;

	while (n > 0 && size < REPLY_BYTES - 1) {
		n = read(fd, reply + size, REPLY_BYTES - 1 - size);
		if (n > 0)
			size += (size_t)n;
	}
	reply[size] = '\0';
	return n < 0 || size == 0 ? err_sys(e, "read the reply") : 0;
}

/* The body of a page is one line. */
static int
judge(const char *name, char *reply, struct err *e)
{
	char *body = strstr(reply, "\r\n\r\n");

	if (strncmp(reply, "HTTP/1.1 200 ", strlen("HTTP/1.1 200 ")) == 0)
		return 0;
	body = body != NULL ? body + strlen("\r\n\r\n") : reply;
	body[strcspn(body, "\r\n")] = '\0';
	return err_set(e, ERR_unavailable, "%s: %s", name, body);
}

int
monitor_ask(const struct monitor *m, struct err *e)
{
	static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	const struct timeval wait = { .tv_sec = ASK_MS / 1000 };
	char reply[REPLY_BYTES];
	union address to;

	if (*m->where == '\0')
		return err_set(
		    e, ERR_invalid_argument, "the setting metrics is empty, so nothing listens");

	int size = parse(m, &to, e);

	if (size < 0)
		return -1;
	auto_fd int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
	    connect(fd, &to.any, (socklen_t)size) < 0)
		return err_sys(e, "connect to %s of %s", m->where, m->name);
	if (fdio_write(fd, ask, sizeof ask - 1, e) < 0 || read_reply(fd, reply, e) < 0)
		return err_add(e, "ask %s", m->name);
	return judge(m->name, reply, e);
}
