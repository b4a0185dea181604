/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - clients of revisions before 2026-07-28 over HTTP, known by Mcp-Session-Id.
 *
 * An id is 128 random bits and no proof of anything: a session answers only to the principal that
 * made it.  Its streams are kept a while for a client that comes back, within replay_bytes; where
 * those of all sessions are too much, the principal that has most of it loses some of its own, the
 * oldest, so that each is sure of an equal share.
 */
#pragma once

#include "gateway/transport/client.h"
#include "gateway/transport/http/stream.h"

#include "common/base/err.h"

enum { SESSION_ID = 33 };

struct session {
	struct client client; /* first */
	struct session *next; /* in its bucket */
	char id[SESSION_ID];
	struct stream general;  /* what belongs to no exchange; stays open */
	struct stream *streams; /* of exchanges, the oldest first */
	uint64_t tags;          /* given to streams */
	size_t exchanges;       /* under way */
	int64_t used_ms;
	bool ended; /* freed with the last exchange */
};

/* A new one of that principal; queue_full where there are too many, and none is idle. */
struct session *session_open(struct account *, const struct transport *, struct err *);
/* NULL: none of that id, or another's, or one that comes in another way. */
struct session *session_find(const char *id, const struct account *, const struct transport *);
/* What is under way in it is given up. */
void session_end(struct session *);
/* An exchange of it is over; may free it. */
void session_leave(struct session *);

/* A stream for an exchange; NULL: no memory. */
struct stream *session_stream(struct session *);
/* The one that an event's id is of, which is then to be read from there on; NULL: unknown. */
struct stream *session_resume(struct session *, const char *event);
/* After events were added: forgets the oldest that were read, as far as bounds ask. */
void session_trim(struct session *);

/* Ends those that nobody used for session_ttl_ms. */
void session_sweep(int64_t now_ms);
/* Ends all general streams that no answer is still to go over; to be called again for those. */
void session_drain(void);
void session_end_all(void);
size_t session_count(void);
