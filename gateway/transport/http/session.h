/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - HTTP clients of revisions before 2026-07-28, identified by Mcp-Session-Id.
 *
 * An id is 128 random bits and not a credential: a session serves only the principal that made it.
 * Sent events are kept within replay_bytes for a client that reconnects.  If all sessions keep too
 * much, the principal with the most loses its oldest events, so that each is sure of an equal
 * share.
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
	struct stream general;  /* for messages of no exchange; stays open */
	struct stream *streams; /* of exchanges, the oldest first */
	uint64_t tags;          /* counts its streams */
	size_t exchanges;       /* in progress */
	int64_t used_ms;
	bool ended; /* freed with the last exchange */
};

/* Makes a session of that principal; queue_full if there are too many and none is idle. */
struct session *session_open(struct account *, const struct transport *, struct err *);
/* NULL: no such id, or it belongs to another principal or another transport. */
struct session *session_find(const char *id, const struct account *, const struct transport *);
/* Ends a session and cancels its requests. */
void session_end(struct session *);
/* An exchange of the session has ended; may free the session. */
void session_leave(struct session *);

/* A new stream for an exchange; NULL: no memory. */
struct stream *session_stream(struct session *);
/* The stream of an event's id, rewound to just after that event; NULL: unknown. */
struct stream *session_resume(struct session *, const char *event);
/* Call after adding events: forgets the oldest sent ones, as the bounds require. */
void session_trim(struct session *);

/* Ends sessions without use for session_ttl_ms. */
void session_sweep(int64_t now_ms);
/* Ends all general streams that wait for no reply.  Call it again for the others. */
void session_drain(void);
void session_end_all(void);
size_t session_count(void);
