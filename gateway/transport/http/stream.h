/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - server-sent events for one reader, kept for a while for a reader that reconnects.
 *
 * Memory is bounded whatever the reader does.  An event's id is "<stream>-<number>", so that it
 * identifies its stream.
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
	struct stream *next;                 /* of the same owner */
	struct sse_event *first, *last, *at; /* kept; the next to send, NULL: all are sent */
	size_t offset;                       /* sent bytes of that event */
	size_t bytes, waiting;               /* of all its events; of its unsent events */
	size_t kept;                         /* of completely sent events */
	uint64_t tag, number;                /* for ids of events; tag 0: not resumable */
	struct account *account;             /* lives as long as the owner */
	struct http_request *request;        /* the reader; NULL: none */
	void (*wake)(struct http_request *); /* notifies the reader of new data */
	int64_t spoke_ms, read_ms;           /* of the last event added, and the last read */
	bool comment;                        /* send a comment when nothing else waits */
	bool paused;                         /* end the response once all is sent */
	bool ended;                          /* no more events follow */
};

/* Adds an event with the message as its data.  -1: over the limit of unsent bytes, or no memory;
 * nothing was added then. */
int stream_add(struct stream *, const json_t *message, size_t limit);
/* Adds an event of another kind; name NULL: the default. */
int stream_add_text(struct stream *, const char *name, const char *text);
/* The same with an id of the caller, for a stream that is not resumable here; NULL: none. */
int stream_add_named(struct stream *, const char *id, const char *name, const char *text);
/* Tells the client when to reconnect: an event without data. */
int stream_prime(struct stream *, int retry_ms);
/* A comment, which only keeps the connection alive. */
void stream_comment(struct stream *);
void stream_end(struct stream *);

/* Reads up to size bytes; 0: nothing waits. */
size_t stream_read(struct stream *, char *to, size_t size);
/* Removes the reader; a partly sent event will be sent again. */
void stream_detach(struct stream *);
/* Frees the oldest sent events until at most `keep` bytes of them are left. */
void stream_trim(struct stream *, size_t keep);
/* Sends again what came after that event; false: it is no longer known. */
bool stream_rewind(struct stream *, uint64_t number);
/* Parses "12-34"; false: malformed. */
bool stream_parse(const char *id, uint64_t *tag, uint64_t *number);
void stream_clear(struct stream *);
