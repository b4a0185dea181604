/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - clients, their pending requests, and where replies go.
 *
 * A transport owns clients and carries their messages; all other code sees only this.  What a
 * client is depends on the transport:
 *
 * 	stdio                    one client for the life of the process; no exchanges
 * 	HTTP, 2026-07-28         a client for each POST, with one exchange
 * 	HTTP, earlier revisions  a client for each session, with an exchange for each POST
 *
 * An exchange is the destination of the reply to one POST and of all that belongs to it: progress,
 * log messages and, in earlier revisions, requests to the client.  It lives until it is answered,
 * even if no client listens any more.  So code with a pending request may always use its exchange.
 *
 * A client cancels a request with notifications/cancelled or, in 2026-07-28 over HTTP, by closing
 * the stream.  The transport turns both into the same cancel().
 */
#pragma once

#include "gateway/mcp/revision.h"
#include "gateway/transport/account.h"

struct client;
struct exchange; /* private to a transport; NULL over stdio, and for messages of no request */

struct transport {
	/* Sends a notification, or a request to the client, on the stream of that exchange;
	 * exchange NULL: on the client's general stream.  The caller keeps the message. */
	void (*send)(struct client *, struct exchange *, const json_t *message);
	/* Called exactly once for each exchange, and frees it; NULL: no reply is due. */
	void (*answer)(struct client *, struct exchange *, const json_t *message);
	/* Whether the client is slow to read: then omit optional messages. */
	bool (*slow)(const struct client *, const struct exchange *);
	/* Ends the connection of an exchange, which the client then resumes (polling, in
	 * 2025-11-25).  NULL or no effect if the revision has no polling. */
	void (*pause)(struct client *, struct exchange *);
	/* A link to a file of a session, allocated with malloc; NULL: the transport serves no
	 * files. */
	char *(*link)(struct client *, struct exchange *, const char *session, const char *path);
};

struct client {
	const struct transport *by;
	struct account *account;
	unsigned scopes;                 /* scopes (auth/scope.h) of the request now being read */
	const struct revision *revision; /* agreed by initialize; NULL: none yet */
	struct pending *pending;         /* requests that are answered later */
	/* For revisions before 2026-07-28, where a client is a session: */
	json_t *capabilities; /* that it declared, an object; NULL: none */
	int log_from;         /* an enum logging: the level that the client set */
	size_t watches;       /* number of its subscriptions, see resource/listen.h */
	/* Called before the client is freed; may be NULL. */
	void (*closed)(struct client *);
};

/* A batch, answered by an array once all its messages are answered. */
struct batch;

/* The destination of a reply. */
struct origin {
	struct client *client;
	struct exchange *exchange;
	struct batch *batch; /* NULL: on its own */
	const struct revision *revision;
	json_t *id;   /* borrowed by requests, owned by a pending request */
	int log_from; /* an enum logging: the level of messages about it */
};

/* A request that is answered later; embedded in its owner's struct. */
struct pending {
	struct pending *next;
	struct origin origin;
	bool silent;  /* send nothing more about it: no reply, no progress */
	bool endless; /* ended only by cancel(), at the latest when the process drains */
	/* The client no longer waits: call client_end() soon, or at once.  Must not end another
	 * request. */
	void (*cancel)(struct pending *);
};

/* Sends and takes the message.  NULL: no reply is due; that also completes a place in a batch. */
void client_answer(const struct origin *, json_t *message);
/* Sends a notification about a request, or a request to the client on its behalf; takes the
 * message. */
void client_tell(const struct origin *, json_t *message);
/* Whether the client is slow, so that client_tell() should be omitted. */
bool client_slow(const struct origin *);

/* Registers the request under its id.  The origin is copied, and its batch waits. */
void client_begin(struct pending *, const struct origin *, void (*cancel)(struct pending *));
/* Answers and takes the message (NULL: no reply).  The owner then frees the struct. */
void client_end(struct pending *, json_t *message);
/* Ends the request without a reply: *origin becomes the caller's, with its id and its place in a
 * batch. */
void client_hand_over(struct pending *, struct origin *origin);
/* The pending request with that id; NULL: none. */
struct pending *client_find(const struct client *, const json_t *id);
/* Cancels the request with that id; an unknown id has no effect. */
void client_cancel(struct client *, const json_t *id);
/* For transports: cancels all requests, without a reply if the client has disconnected. */
void client_give_up(struct client *, bool gone);
/* Ends the endless requests with a reply. */
void client_drain(struct client *);
/* For transports, last: frees what the client owns. */
void client_close(struct client *);

/* A batch with one place, for its reader; each message with a reply takes one more. */
struct batch *client_batch(void);
void client_batch_hold(struct batch *);
