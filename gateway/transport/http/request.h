/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - an HTTP request, and the ways to reply: at once, later, or with a stream.
 *
 * A request lives from the end of its head until its reply is sent or the client disconnects.
 * gone() is called in either case.
 */
#pragma once

#include "common/credential/identity.h"
#include "gateway/rpc/scan.h"
#include "gateway/transport/http/stream.h"

#include "common/base/err.h"

#include <arpa/inet.h>
#include <microhttpd.h>

struct http_request;
struct rest_route;
struct account;

/* A connection. */
struct http_peer {
	struct http_peer *next, **at;
	int fd;
	bool fresh;  /* it has not sent a request yet */
	bool looked; /* checked for an end that went unnoticed */
	bool ended;  /* sends no more; whether it reads is unknown */
	struct http_request *request;
	struct account *account; /* the last principal that used it; held until it closes */
	int64_t since_ms;        /* start of its current state */
	size_t bytes;            /* transferred since then */
	char address[INET6_ADDRSTRLEN];
};

/* A route; a table of routes ends with a NULL path. */
struct http_route {
	const char *method; /* "GET" also means HEAD */
	/* A path that ends with a slash includes all below it.  "{name}" is one segment. */
	const char *path;
	bool open; /* needs no credentials and counts against no rate */
	bool body; /* has a body to read */
	/* Called when the body is complete; replies, now or later. */
	void (*handle)(struct http_request *);
	const struct rest_route *rest; /* of the REST API, or NULL */
};

struct http_request {
	struct MHD_Connection *connection;
	const struct http_route *route;
	const char *path; /* as sent; below route->path */
	struct identity identity;
	struct account *account;
	const char *origin; /* of the web page, if allowed; NULL: no page */
	char *body;
	size_t size, room;
	struct scan *scan;                   /* of the body; NULL: none */
	void *self;                          /* the handler's */
	void (*gone)(struct http_request *); /* frees the handler's state of the request */
	/* The client shut down its sending side.  Return false to treat it as disconnected; NULL
	 * keeps the request. */
	bool (*ended)(struct http_request *);
	/* private to request.c and web.c */
	struct http_peer *peer;
	struct stream *stream;
	struct MHD_Response *reply;
	unsigned status;
	int64_t checked_ms;
	size_t reply_bytes;
	bool suspended, replied, broken, head;
};

/* ---- the request; texts live as long as it ---- */

/* The path of a URL that is a path already, or absolute, as clients send it to a proxy (RFC
 * 9112, 3.2.2). */
const char *request_path(const char *url);
/* A callback of the library; decodes in place.  A text with an encoded zero byte stays as it was
 * sent, and so names nothing. */
size_t request_unescape(void *unused, struct MHD_Connection *, char *text);
const char *request_header(const struct http_request *, const char *name); /* NULL: none */
const char *request_query(const struct http_request *, const char *name);
/* Whether that header occurs more than once. */
bool request_repeats(const struct http_request *, const char *name);
/* Takes more of the body. */
enum request_taken {
	REQUEST_taken,
	REQUEST_too_large, /* over max_message_bytes: the caller replies */
	REQUEST_no_room,   /* no room beside other bodies: the caller replies */
	REQUEST_failed,    /* no memory: the connection cannot continue */
} request_take(struct http_request *, const char *data, size_t size);
/* Frees the body and keeps its size. */
void request_forget_body(struct http_request *);
/* The peer's address as text. */
const char *request_address(const struct http_request *);

/* ---- the reply: one of these, once ---- */

struct header {
	const char *name, *value;
};

/* Replies with a whole body, allocated with malloc, and takes it; type NULL: none.  headers end
 * with a NULL name, or are NULL. */
void request_reply(struct http_request *, unsigned status, const char *type, char *text,
    size_t size, const struct header *headers);
/* The same for a constant text. */
void request_say(struct http_request *, unsigned status, const char *type, const char *text,
    const struct header *headers);
/* Replies with the caller's response and takes it. */
void request_give(struct http_request *, unsigned status, struct MHD_Response *);
/* Sends events from now on, until the stream ends.  The caller keeps the stream. */
void request_stream(struct http_request *, struct stream *, const struct header *headers);
/* Resumes a response whose reader in request_give() had no data. */
void request_wake(struct http_request *);
/* Called by such a reader before it returns 0 bytes. */
void request_wait(struct http_request *);
/* Ends the connection soon; gone() is called then. */
void request_break(struct http_request *);
