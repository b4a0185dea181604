/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - an HTTP request, and the ways to answer it: now, later, or as a stream.
 *
 * One lives from its head's end until its answer is sent, or until the client has gone: gone() is
 * told in either case.
 */
#pragma once

#include "common/credential/identity.h"
#include "gateway/rpc/scan.h"
#include "gateway/transport/http/stream.h"

#include "common/base/err.h"

#include <arpa/inet.h>
#include <microhttpd.h>

struct http_request;
struct account;

/* A connection. */
struct http_peer {
	struct http_peer *next, **at;
	int fd;
	bool fresh;  /* it has not sent a request yet */
	bool looked; /* whether its end came unnoticed */
	bool ended;  /* it sends no more; whether it reads is not known */
	struct http_request *request;
	struct account *account; /* whose it was last, who has it until it closes */
	int64_t since_ms;        /* of what it does now */
	size_t bytes;            /* moved since then */
	char address[INET6_ADDRSTRLEN];
};

/* What is served where; a table of them ends with a NULL path. */
struct http_route {
	const char *method; /* "GET" is also HEAD */
	const char *path;   /* one that ends with a slash is for all below it */
	bool open;          /* no credentials are asked for, and no rate counted */
	bool body;          /* it has one that is read */
	/* Once the body is there; it replies, now or later. */
	void (*handle)(struct http_request *);
};

struct http_request {
	struct MHD_Connection *connection;
	const struct http_route *route;
	const char *path; /* as sent, below route->path */
	struct identity identity;
	struct account *account;
	const char *origin; /* of a page that may ask; NULL: none asks */
	char *body;
	size_t size, room;
	struct scan *scan;                   /* of the body; NULL: there is none */
	void *self;                          /* the handler's */
	void (*gone)(struct http_request *); /* what it knows of the request is no longer there */
	/* No more comes from the client, which may still wait; false: it is to be taken for gone.
	 * NULL: it is waited with. */
	bool (*ended)(struct http_request *);
	/* of request.c and web.c */
	struct http_peer *peer;
	struct stream *stream;
	struct MHD_Response *reply;
	unsigned status;
	int64_t checked_ms;
	size_t reply_bytes;
	bool suspended, replied, broken, head;
};

/* ---- what was asked; texts live as long as the request ---- */

/* Of a URL that is a path already, or the whole of it, as who asks a proxy sends it (RFC 9112,
 * 3.2.2). */
const char *request_path(const char *url);
/* For the library, in place; a text that would end in a zero byte within stays as it was sent, and
 * so is the name of nothing. */
size_t request_unescape(void *unused, struct MHD_Connection *, char *text);
const char *request_header(const struct http_request *, const char *name); /* NULL: none */
const char *request_query(const struct http_request *, const char *name);
/* That header is there more than once. */
bool request_repeats(const struct http_request *, const char *name);
/* More of the body has come. */
enum request_taken {
	REQUEST_taken,
	REQUEST_too_large, /* over max_message_bytes: it is to be answered with that */
	REQUEST_no_room,   /* beside the bodies of others: likewise */
	REQUEST_failed,    /* no memory: the connection cannot go on */
} request_take(struct http_request *, const char *data, size_t size);
/* Frees the body; its size stays known. */
void request_forget_body(struct http_request *);
/* Address of the peer, as text. */
const char *request_address(const struct http_request *);

/* ---- what is answered: one of these, once ---- */

struct header {
	const char *name, *value;
};

/* A whole body of malloc, taken; type NULL: none.  headers end with a NULL name, or are NULL. */
void request_reply(struct http_request *, unsigned status, const char *type, char *text,
    size_t size, const struct header *headers);
/* The same of a text that stays. */
void request_say(struct http_request *, unsigned status, const char *type, const char *text,
    const struct header *headers);
/* A response that the caller made; taken. */
void request_give(struct http_request *, unsigned status, struct MHD_Response *);
/* Events from now on, until the stream has ended; it stays the caller's. */
void request_stream(struct http_request *, struct stream *, const struct header *headers);
/* More can be sent than when a reader of request_give()'s response gave nothing. */
void request_wake(struct http_request *);
/* For such a reader, before it gives 0 bytes. */
void request_wait(struct http_request *);
/* Ends the connection, soon; gone() is called then. */
void request_break(struct http_request *);
