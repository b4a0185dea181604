/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - server-sent events on their way to one reader, kept a while for one that comes back.
 *
 * Bounded whatever the reader does.  An event's id is "<stream>-<number>", so that it names the
 * stream it is of.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct account;
struct http_request;
struct sse_event;

struct stream {
	struct stream *next;                 /* its owner's */
	struct sse_event *first, *last, *at; /* kept; the next to send, NULL: all is sent */
	size_t offset;                       /* of it that is sent */
	size_t bytes, waiting;               /* of all its events; of them not sent yet */
	size_t kept;                         /* of those sent to their end */
	uint64_t tag, number;                /* of events that can be resumed; tag 0: they cannot */
	struct account *account;             /* whose; it is there as long as the owner is */
	struct http_request *request;        /* that reads; NULL: nobody */
	void (*wake)(struct http_request *); /* it: there is something to read */
	int64_t spoke_ms, read_ms;           /* when something was added last, and taken */
	bool comment;                        /* one is to be sent when nothing else waits */
	bool paused;                         /* the reader is sent away once all is sent */
	bool ended;                          /* no more events come */
};

/* An event with the message as its data.  -1: over the limit of bytes that wait, or no memory;
 * then nothing was added. */
int stream_add(struct stream *, const json_t *message, size_t limit);
/* An event of another kind; name NULL: the default. */
int stream_add_text(struct stream *, const char *name, const char *text);
/* That the client may come back, and after how long: an event of no data. */
int stream_prime(struct stream *, int retry_ms);
/* A comment, which only keeps the connection alive. */
void stream_comment(struct stream *);
void stream_end(struct stream *);

/* Up to size bytes; 0: nothing waits. */
size_t stream_read(struct stream *, char *to, size_t size);
/* Nobody reads now; what was sent in part is sent anew. */
void stream_detach(struct stream *);
/* Frees the oldest events that were sent until no more than `keep` bytes are left of them. */
void stream_trim(struct stream *, size_t keep);
/* Sends again what came after that event; false: it is not known any more. */
bool stream_rewind(struct stream *, uint64_t number);
/* "12-34"; false: not of that form. */
bool stream_parse(const char *id, uint64_t *tag, uint64_t *number);
void stream_clear(struct stream *);
