/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.c - libmicrohttpd driven by the loop.
 *
 * The library has its own epoll descriptor, which the loop watches.  turn() runs the library, also
 * when a request was resumed.  A request that waits for its reply, or whose stream has nothing to
 * send, is suspended.  The library then ignores its socket, so web.c watches it to notice when the
 * client disconnects.  Deadlines are checked once a second.  A connection of the library can be
 * ended only by shutting down its socket.
 */
#include "gateway/transport/http/web.h"

#include "gateway/auth/auth.h"
#include "gateway/options.h"
#include "gateway/transport/account.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/state.h"
#include "gateway/transport/tls/tls.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	SWEEP_MS = 1000,
	CHECK_MS = 5000, /* between checks of a stream reader's credentials */
	BACKLOG = 1024,
	READ_BYTES = 1024, /* initial size and growth of a connection's buffer */
};

static struct {
	struct MHD_Daemon *daemon;
	const struct http_route *routes;
	int socket, epoll;
	struct http_peer *peers;
	uint64_t sweep;
	char url[160];
} web = { .socket = -1, .epoll = -1 };

/* ---- the library's side ---- */

static enum MHD_Result
queue_reply(struct http_request *r)
{
	struct MHD_Response *response = take_ptr(r->reply);
	enum MHD_Result queued = MHD_queue_response(r->connection, r->status, response);

	MHD_destroy_response(response);
	r->peer->since_ms = loop_now_ms();
	r->peer->bytes = r->reply_bytes;
	return queued;
}

static bool
is_at(const struct http_route *route, const char *path)
{
	size_t n = strcspn(route->path, "{");
	const char *end = strchr(route->path, '}');

	if (end != NULL) {
		size_t segment = strncmp(path, route->path, n) == 0 ? strcspn(path + n, "/") : 0;

		return segment > 0 && strcmp(path + n + segment, end + 1) == 0;
	}
	return route->path[n - 1] == '/' ? strncmp(path, route->path, n) == 0
	                                 : strcmp(path, route->path) == 0;
}

static void
say_missing(struct http_request *r, const char *allowed)
{
	bool method = *allowed != '\0';
	unsigned status = method ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND;
	const struct header allow[] = { { "Allow", allowed }, { 0 } };

	if (options.rest)
		guard_refuse(r, status, method ? allow : NULL, "%s",
		    method ? "Method Not Allowed" : "Not Found");
	else
		request_say(r, status, "text/plain",
		    method ? "method not allowed\n" : "not found\n", method ? allow : NULL);
}

/* Sets the route; false: it has replied. */
static bool
find_route(struct http_request *r, const char *path, const char *method)
{
	char allowed[64] = "";
	const struct http_route *route = web.routes;

	r->head = strcmp(method, "HEAD") == 0;
	for (; route->path != NULL; route++) {
		if (!is_at(route, path))
			continue;
		if (strcmp(method, route->method) == 0 ||
		    (r->head && strcmp(route->method, "GET") == 0))
			break;
		snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), "%s%s",
		    *allowed != '\0' ? ", " : "", route->method);
	}
	if (route->path != NULL) {
		r->route = route;
		r->path = path + strcspn(route->path, "{");
		return true;
	}
	say_missing(r, allowed);
	return false;
}

static struct http_request *
begin(struct MHD_Connection *connection, const char *path, const char *method, const char *version)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_request *r =
	    info == NULL || info->socket_context == NULL ? NULL : calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->connection = connection;
	r->peer = info->socket_context;
	r->checked_ms = loop_now_ms();
	r->peer->request = r;
	r->peer->since_ms = loop_now_ms();
	r->peer->bytes = 0;
	r->peer->looked = false;
	web_counts.requests++;
	if (guard_frames(r, method, version) && find_route(r, request_path(path), method))
		guard_request(r);
	return r;
}

/* Takes more of a body. */
static enum MHD_Result
take(struct http_request *r, const char *data, size_t size)
{
	enum request_taken taken = request_take(r, data, size);

	if (taken == REQUEST_too_large)
		guard_too_large(r);
	if (taken == REQUEST_no_room)
		guard_busy(r);
	if (taken != REQUEST_taken)
		request_forget_body(r);
	return taken == REQUEST_failed ? MHD_NO : MHD_YES;
}

/* The library's signature. */
static enum MHD_Result /* NOLINTNEXTLINE(readability-function-size) */
on_request(void *unused, struct MHD_Connection *connection, const char *path, const char *method,
    const char *version, const char *data, size_t *size, void **self)
{
	struct http_request *r = *self;

	(void)unused;
	if (r == NULL) {
		r = *self = begin(connection, path, method, version);
		if (r == NULL)
			return MHD_NO;
		return r->reply != NULL ? queue_reply(r) : MHD_YES;
	}
	if (r->broken)
		return MHD_NO;
	if (*size > 0) {
		size_t n = *size;

		*size = 0;
		return take(r, data, n);
	}
	if (!r->replied) {
		r->route->handle(r);
		if (r->broken)
			return MHD_NO;
	}
	if (r->reply != NULL)
		return queue_reply(r);
	request_wait(r);
	return MHD_YES;
}

static void
on_completed(void *unused, struct MHD_Connection *connection, void **self,
    enum MHD_RequestTerminationCode how)
{
	struct http_request *r = take_ptr(*self);

	(void)unused;
	(void)connection;
	(void)how;
	if (r == NULL)
		return;
	if (r->suspended)
		loop_forget(r->peer->fd);
	if (r->stream != NULL)
		stream_detach(r->stream);
	if (r->gone != NULL)
		r->gone(r);
	if (r->reply != NULL)
		MHD_destroy_response(r->reply);
	web_counts.waiting -= r->reply_bytes;
	if (r->account != NULL)
		r->account->waiting -= r->reply_bytes;
	r->peer->request = NULL;
	r->peer->fresh = r->peer->looked = false;
	r->peer->since_ms = loop_now_ms();
	request_forget_body(r);
	account_release(r->account);
	free(r);
}

static void
name_peer(struct http_peer *p, const struct sockaddr *from)
{
	const void *address = from->sa_family == AF_INET6
	                          ? (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr
	                          : (const void *)&((const struct sockaddr_in *)from)->sin_addr;

	if (inet_ntop(from->sa_family, address, p->address, sizeof p->address) == NULL)
		p->address[0] = '\0';
}

static void
open_peer(struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	/* The next call may overwrite what this one returned. */
	int fd = info == NULL ? -1 : info->connect_fd;
	const union MHD_ConnectionInfo *from =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct http_peer *p = calloc(1, sizeof *p);

	if (p == NULL || fd < 0 || from == NULL) {
		free(p);
		return; /* begin() ends it */
	}
	*p = (struct http_peer){ .next = web.peers,
		.at = &web.peers,
		.fd = fd,
		.fresh = true,
		.since_ms = loop_now_ms() };
	name_peer(p, from->client_addr);
	if (p->next != NULL)
		p->next->at = &p->next;
	web.peers = p;
	*context = p;
	web_counts.connections++;
	web_counts.accepted++;
}

static void
on_connection(void *unused, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode what)
{
	struct http_peer *p = *context;

	(void)unused;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		open_peer(connection, context);
		return;
	}
	if (p == NULL)
		return;
	*p->at = p->next;
	if (p->next != NULL)
		p->next->at = p->at;
	if (p->account != NULL)
		p->account->connections--;
	account_release(p->account);
	free(p);
	*context = NULL;
	web_counts.connections--;
}

__attribute__((format(printf, 2, 0))) static void
on_log(void *unused, const char *format, va_list arguments)
{
	char text[512];

	(void)unused;
	vsnprintf(text, sizeof text, format, arguments);
	log_debug("http", LOG_S("said", text));
}

/* ---- deadlines ---- */

static bool
is_late(const struct http_peer *p, int64_t now)
{
	const struct http_request *r = p->request;
	int64_t spent = now - p->since_ms;

	if (r == NULL)
		return spent >
		       (int64_t)(p->fresh ? options.header_timeout_ms : options.idle_timeout_ms);
	if (r->stream != NULL)
		return r->stream->waiting > 0 &&
		       now - r->stream->read_ms > (int64_t)options.stall_timeout_ms;
	if (r->suspended)
		return false; /* the client waits for our reply */
	return spent >
	       (int64_t)(options.stall_timeout_ms + p->bytes * 1000 / options.min_bytes_per_s);
}

/*
 * The library uses edge-triggered epoll.  If one edge reports both bytes and their end, it forgets
 * the end when it has read the bytes.  Such a connection would stay until its deadline.
 */
static void
look_for_end(struct http_peer *p, int64_t now)
{
	const struct http_request *r = p->request;
	char byte;

	if (p->looked || now - p->since_ms < SWEEP_MS / 2 ||
	    (r != NULL && (r->replied || r->suspended)))
		return;
	p->looked = true;
	if (recv(p->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		shutdown(p->fd, SHUT_RDWR);
}

static void
watch_stream(struct http_request *r, int64_t now)
{
	struct stream *s = r->stream;

	if (now - r->checked_ms > CHECK_MS) {
		r->checked_ms = now;
		if (!r->route->open && !auth_valid(&r->identity))
			request_break(r);
	}
	if (s->waiting == 0 && !s->ended && now - s->spoke_ms >= (int64_t)options.keep_alive_ms)
		stream_comment(s);
}

static void
sweep(void *unused)
{
	int64_t now = loop_now_ms(), handshake = now;
	struct http_peer *next;

	(void)unused;
	for (struct http_peer *p = web.peers; p != NULL; p = next) {
		next = p->next;
		if (p->fresh && p->request == NULL && p->since_ms < handshake)
			handshake = p->since_ms; /* maybe done, but no request shows it yet */
		if (is_late(p, now)) {
			web_counts.refused_slow++;
			if (p->request != NULL)
				request_break(p->request);
			else
				shutdown(p->fd, SHUT_RDWR);
			web_state.woken = true;
		} else if (p->request != NULL && p->request->stream != NULL) {
			watch_stream(p->request, now);
		} else {
			look_for_end(p, now);
		}
	}
	tls_forget(handshake);
	account_sweep(now);
	web.sweep = loop_after(SWEEP_MS, sweep, NULL);
}

/* ---- the loop ---- */

static void
on_ready(void *unused, uint32_t events)
{
	(void)unused;
	(void)events;
	web_state.woken = true;
}

static bool
turn(void *unused)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	(void)unused;
	if (web.daemon == NULL || !web_state.woken)
		return false;
	web_state.woken = false;
	uint64_t before = web_counts.connections;
	MHD_run(web.daemon);
	if (MHD_get_timeout(web.daemon, &wait_ms) == MHD_YES && wait_ms == 0)
		web_state.woken = true;
	/* When full, the library stops listening; it resumes only at its next run. */
	if (web_counts.connections < before)
		web_state.woken = true;
	return true;
}

/* ---- start and stop ---- */

static int
set_address(const char *host, uint16_t port, struct sockaddr_storage *to, socklen_t *size)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;

	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		*size = sizeof *v6;
		web_state.public = !IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
		return 0;
	}
	if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
		return -1;
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	*size = sizeof *v4;
	web_state.public = ntohl(v4->sin_addr.s_addr) >> 24 != 127;
	return 0;
}

/* "127.0.0.1:8765" or "[::1]:8765". */
static int
read_address(struct sockaddr_storage *to, socklen_t *size, struct err *e)
{
	const char *colon = strrchr(options.listen, ':'), *from = options.listen;
	size_t digits = colon == NULL ? 0 : strspn(colon + 1, "0123456789");
	size_t n = colon == NULL ? 0 : (size_t)(colon - from);
	char host[64];

	bool bracketed = n > 2 && *from == '[' && from[n - 1] == ']';

	if (bracketed) {
		from++;
		n -= 2;
	}
	if (n > 0 && n < sizeof host && digits > 0 && digits < 6 && colon[1 + digits] == '\0') {
		unsigned long port = strtoul(colon + 1, NULL, 10);

		memcpy(host, from, n);
		host[n] = '\0';
		if (port < 65536 && bracketed == (strchr(host, ':') != NULL) &&
		    set_address(host, (uint16_t)port, to, size) == 0)
			return 0;
	}
	return err_set(e, ERR_invalid_argument,
	    "listen: '%s' is not an address and a port, as in 127.0.0.1:8765 or [::1]:8765",
	    options.listen);
}

static int
listen_there(struct err *e)
{
	struct sockaddr_storage where = { 0 };
	socklen_t size;

	if (read_address(&where, &size, e) < 0)
		return -1;

	auto_fd int fd = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
	    bind(fd, (struct sockaddr *)&where, size) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&where, &size) < 0)
		return err_sys(e, "listen on %s", options.listen);
	snprintf(web.url, sizeof web.url, "http%s://%.*s:%u", tls_on() ? "s" : "",
	    (int)(strrchr(options.listen, ':') - options.listen), options.listen,
	    (unsigned)ntohs(((struct sockaddr_in *)&where)->sin_port));
	web.socket = take_fd(&fd);
	return 0;
}

int
web_open(struct err *e)
{
	daemon_files(options.max_connections);
	return tls_open(e) < 0 ? -1 : listen_there(e);
}

static struct MHD_Daemon *
make_daemon(void)
{
	struct MHD_OptionItem tls[] = { { MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)tls_choose },
		{ MHD_OPTION_END, 0, NULL } };
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
	                 (tls_on() ? MHD_USE_TLS : 0);

	return MHD_start_daemon(flags, 0, NULL, NULL, on_request, NULL, MHD_OPTION_EXTERNAL_LOGGER,
	    on_log, NULL, MHD_OPTION_LISTEN_SOCKET, web.socket, MHD_OPTION_NOTIFY_CONNECTION,
	    on_connection, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)options.max_connections,
	    MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)options.max_connections_per_address,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)options.max_header_bytes,
	    MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)READ_BYTES,
	    MHD_OPTION_UNESCAPE_CALLBACK, request_unescape, NULL, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
	    tls_on() ? MHD_OPTION_ARRAY : MHD_OPTION_END, tls, MHD_OPTION_END);
}

int
web_start(const struct http_route *routes, struct err *e)
{
	web.routes = routes;
	tls_start();
	web.daemon = make_daemon();
	if (web.daemon == NULL)
		return err_set(e, ERR_internal, "libmicrohttpd did not start");
	web.epoll = MHD_get_daemon_info(web.daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	web.sweep = loop_after(SWEEP_MS, sweep, NULL);
	log_info("listening", LOG_S("url", web.url));
	if (loop_watch(web.epoll, EPOLLIN, on_ready, NULL, e) < 0)
		return -1;
	web_state.woken = true;
	return loop_before_wait(turn, NULL, e);
}

void
web_stop(void)
{
	struct http_peer *next;

	if (web.daemon == NULL)
		return;
	loop_unset(web.sweep);
	for (struct http_peer *p = web.peers; p != NULL; p = next) {
		next = p->next;
		if (p->request != NULL)
			request_break(p->request);
	}
	MHD_run(web.daemon);
	loop_forget(web.epoll);
	MHD_stop_daemon(web.daemon);
	web.daemon = NULL;
	tls_close();
}

size_t
web_drain(void)
{
	size_t open = 0;

	web_state.draining = true;
	for (struct http_peer *p = web.peers; p != NULL; p = p->next)
		open += p->request != NULL;
	return open;
}

const char *
web_url(void)
{
	return web.url;
}
