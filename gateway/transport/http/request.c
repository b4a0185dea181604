/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - reading a request and replying to it.  Nothing that a client sends is trusted. */
#include "gateway/transport/http/request.h"

#include "gateway/options.h"
#include "gateway/transport/account.h"
#include "gateway/transport/http/state.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	FIRST_BODY = 4096,
	SMALL_BODY = 65536, /* always taken, whatever else arrives */
	DISCARD_BYTES =
	    64 << 20, /* read of a body over the limit, so that the client reads the reply */
	UNUSED = 16,  /* the library needs no buffer when it sends chunks */
};

/* ---- the request ---- */

size_t
request_unescape(void *unused, struct MHD_Connection *connection, char *text)
{
	(void)unused;
	(void)connection;
	return strstr(text, "%00") != NULL ? strlen(text) : MHD_http_unescape(text);
}

const char *
request_path(const char *url)
{
	size_t scheme = strncasecmp(url, "http://", 7) == 0    ? 7
	                : strncasecmp(url, "https://", 8) == 0 ? 8
	                                                       : 0;

	return scheme == 0 ? url : url + scheme + strcspn(url + scheme, "/");
}

const char *
request_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *
request_query(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct repeats {
	const char *name;
	int count;
};

static enum MHD_Result
count_header(void *self, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct repeats *r = self;

	(void)kind;
	(void)value;
	r->count += strcasecmp(key, r->name) == 0;
	return MHD_YES;
}

bool
request_repeats(const struct http_request *r, const char *name)
{
	struct repeats repeats = { .name = name };

	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, &repeats);
	return repeats.count > 1;
}

static void
count_body(struct http_request *r, size_t room)
{
	web_counts.bodies += room - r->room;
	if (r->account != NULL)
		r->account->bodies += room - r->room;
	r->room = room;
}

void
request_forget_body(struct http_request *r)
{
	count_body(r, 0);
	free(take_ptr(r->body));
	free(take_ptr(r->scan));
}

static enum request_taken
find_room(struct http_request *r, size_t size)
{
	size_t room = r->room == 0 ? FIRST_BODY : r->room;

	if (r->size + size <= r->room)
		return REQUEST_taken;
	while (room < r->size + size)
		room *= 2;
	if (room > options.max_message_bytes)
		room = options.max_message_bytes;
	if (room > SMALL_BODY && room - r->room > account_room(r->account->bodies,
						      options.max_bodies_bytes, web_counts.bodies))
		return REQUEST_no_room;

	char *grown = realloc(r->body, room);

	if (grown == NULL)
		return REQUEST_failed;
	count_body(r, room);
	r->body = grown;
	return REQUEST_taken;
}

enum request_taken
request_take(struct http_request *r, const char *data, size_t size)
{
	r->peer->bytes += size;
	if ((r->replied || !r->route->body) &&
	    r->peer->bytes > options.max_message_bytes + DISCARD_BYTES)
		request_break(r); /* it does not end, and it is not needed */
	if (r->replied || r->broken || !r->route->body)
		return REQUEST_taken;
	if (r->scan == NULL && (r->scan = calloc(1, sizeof *r->scan)) == NULL)
		return REQUEST_failed;

	enum request_taken taken =
	    size > options.max_message_bytes - r->size ? REQUEST_too_large : find_room(r, size);

	if (taken == REQUEST_taken) {
		memcpy(r->body + r->size, data, size);
		r->size += size;
		scan_feed(r->scan, data, size);
	}
	return taken;
}

const char *
request_address(const struct http_request *r)
{
	return r->peer->address;
}

/* ---- suspended requests ---- */

/*
 * The client has shut down its sending side.  Whether it still reads is unknown (RFC 9112, 9.6).
 * If it has closed the socket, the next bytes sent to it cause a reset.
 */
static void
on_hangup(void *self, uint32_t events)
{
	struct http_request *r = self;
	struct err e;

	if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
		request_break(r);
		return;
	}
	r->peer->ended = true;
	if (loop_change(r->peer->fd, 0, &e) < 0 || (r->ended != NULL && !r->ended(r)))
		request_break(r);
	else if (r->stream != NULL)
		stream_comment(r->stream);
}

void
request_wait(struct http_request *r)
{
	struct err e;

	if (r->suspended)
		return;
	r->suspended = true;
	MHD_suspend_connection(r->connection);
	if (loop_watch(r->peer->fd, r->peer->ended ? 0 : EPOLLRDHUP, on_hangup, r, &e) < 0)
		log_warn("a client's disconnect will not be noticed", LOG_E(&e));
}

void
request_wake(struct http_request *r)
{
	if (!r->suspended)
		return;
	r->suspended = false;
	loop_forget(r->peer->fd);
	MHD_resume_connection(r->connection);
	web_state.woken = true;
}

void
request_break(struct http_request *r)
{
	r->broken = true;
	shutdown(r->peer->fd, SHUT_RDWR);
	request_wake(r);
	web_state.woken = true;
}

/* ---- the reply ---- */

static void
add_headers(struct MHD_Response *response, const struct header *headers)
{
	for (; headers != NULL && headers->name != NULL; headers++)
		if (headers->value != NULL)
			MHD_add_response_header(response, headers->name, headers->value);
}

void
request_give(struct http_request *r, unsigned status, struct MHD_Response *response)
{
	if (r->replied || response == NULL) {
		if (response != NULL)
			MHD_destroy_response(response);
		else
			request_break(r);
		return;
	}
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (r->origin != NULL) {
		MHD_add_response_header(response, "Access-Control-Allow-Origin", r->origin);
		MHD_add_response_header(response, "Access-Control-Expose-Headers",
		    "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate");
		MHD_add_response_header(response, "Vary", "Origin");
	}
	if (web_state.draining)
		MHD_add_response_header(response, "Connection", "close");
	r->replied = true;
	r->reply = response;
	r->status = status;
	request_wake(r);
}

static void
reply(struct http_request *r, unsigned status, const char *type, struct MHD_Response *response,
    size_t size, const struct header *headers)
{
	if (response != NULL && type != NULL)
		MHD_add_response_header(response, "Content-Type", type);
	if (response != NULL)
		add_headers(response, headers);
	if (!r->replied && response != NULL) {
		r->reply_bytes = size;
		web_counts.waiting += size;
		if (r->account != NULL)
			r->account->waiting += size;
	}
	request_give(r, status, response);
}

void
request_reply(struct http_request *r, unsigned status, const char *type, char *text, size_t size,
    const struct header *headers)
{
	struct MHD_Response *response =
	    text == NULL ? NULL
			 : MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);

	if (response == NULL)
		free(text);
	reply(r, status, type, response, size, headers);
}

void
request_say(struct http_request *r, unsigned status, const char *type, const char *text,
    const struct header *headers)
{
	size_t size = text == NULL ? 0 : strlen(text);

	reply(r, status, type,
	    MHD_create_response_from_buffer(size, (void *)text, MHD_RESPMEM_PERSISTENT), size,
	    headers);
}

static ssize_t
read_stream(void *self, uint64_t position, char *to, size_t size)
{
	struct http_request *r = self;
	struct stream *s = r->stream;

	(void)position;
	if (r->broken || s == NULL)
		return MHD_CONTENT_READER_END_WITH_ERROR;

	size_t n = stream_read(s, to, size);

	if (n > 0)
		return (ssize_t)n;
	if (s->ended || s->paused)
		return MHD_CONTENT_READER_END_OF_STREAM;
	request_wait(r);
	return 0;
}

void
request_stream(struct http_request *r, struct stream *s, const struct header *headers)
{
	struct MHD_Response *response =
	    MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, UNUSED, read_stream, r, NULL);

	if (response != NULL && !r->replied) {
		r->stream = s;
		s->request = r;
		s->wake = request_wake;
		s->spoke_ms = s->read_ms = loop_now_ms();
		MHD_add_response_header(response, "Content-Type", "text/event-stream");
		MHD_add_response_header(response, "Cache-Control", "no-cache, no-transform");
		MHD_add_response_header(response, "X-Accel-Buffering", "no");
		add_headers(response, headers);
	}
	request_give(r, MHD_HTTP_OK, response);
}
