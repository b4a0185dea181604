/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - who asks, what they wait for, and where answers go.
 *
 * A transport owns clients and carries their messages; everything else sees only this.  What a
 * client is depends on how it comes:
 *
 *	stdio                    one client for the life of the process; no exchanges
 *	HTTP, 2026-07-28         a client for each POST, with that one exchange
 *	HTTP, earlier revisions  a client for each session, with an exchange for each POST
 *
 * An exchange is where the answer to one POST goes and what is tied to it: progress, log messages
 * and, in earlier revisions, requests to the client.  It lives until it is answered, even where
 * nobody listens to it any more; so whoever has a request under way may always use its exchange.
 *
 * The client wants no answer any more when it says notifications/cancelled, and in 2026-07-28 over
 * HTTP when it closes the stream; the transport turns both into the same cancel().
 */
#pragma once

#include "gateway/mcp/era.h"
#include "gateway/transport/account.h"

struct client;
struct exchange; /* a transport's own; NULL over stdio, and for what belongs to no request */

struct transport {
	/* A notification, or a request to the client, on the stream of that exchange; exchange
	 * NULL: on the one that the client keeps open for whatever is new.  The message stays the
	 * caller's. */
	void (*send)(struct client *, struct exchange *, const json_t *message);
	/* Exactly once for each exchange, which is gone then; NULL: there is nothing to say. */
	void (*answer)(struct client *, struct exchange *, const json_t *message);
	/* It does not read what it was sent: leave out what can be. */
	bool (*slow)(const struct client *, const struct exchange *);
	/* Ends the connection of an exchange, which the client resumes by itself (polling, in
	 * 2025-11-25); NULL or no effect where that cannot be. */
	void (*pause)(struct client *, struct exchange *);
	/* Where a file of a session can be fetched by whoever is given the link, of malloc; NULL:
	 * nowhere. */
	char *(*link)(struct client *, struct exchange *, const char *session, const char *path);
};

struct client {
	const struct transport *by;
	struct account *account;
	unsigned scopes;         /* of auth/scope.h: what the request may do that it says now */
	const struct era *era;   /* of its initialize; NULL: none came */
	struct pending *pending; /* requests that are answered later */
	/* Of revisions before 2026-07-28, where a client is a session: */
	json_t *capabilities; /* that it declared, an object; NULL: none */
	int log_from;         /* an enum logging: what it wants to be told of */
	size_t watches;       /* how many it has, see resource/listen.h */
	/* Before the client is freed; NULL: nobody needs to know. */
	void (*closed)(struct client *);
};

/* An array of messages, answered by an array once each of them is. */
struct batch;

/* Where an answer belongs. */
struct origin {
	struct client *client;
	struct exchange *exchange;
	struct batch *batch; /* NULL: on its own */
	const struct era *era;
	json_t *id;   /* borrowed by requests, owned by what is pending */
	int log_from; /* an enum logging: what is to be said about it on the way */
};

/* A request that is answered later; a part of its owner's struct. */
struct pending {
	struct pending *next;
	struct origin origin;
	bool silent;  /* nothing more is said of it: not its answer, no progress */
	bool endless; /* ends by cancel() only, so at the latest when this process drains */
	/* Nobody waits: client_end() it soon, or at once.  May end no other one. */
	void (*cancel)(struct pending *);
};

/* Sends and takes the message; NULL: nothing is to be said, which ends a place in a batch, too. */
void client_answer(const struct origin *, json_t *message);
/* A notification about a request, or a request to the client for it; takes the message. */
void client_tell(const struct origin *, json_t *message);
/* Does the client not keep up, so that what client_tell() would send is better left out? */
bool client_slow(const struct origin *);

/* From here on it is found by its id; the origin is copied, its batch waits. */
void client_begin(struct pending *, const struct origin *, void (*cancel)(struct pending *));
/* Answers and takes the message (NULL: nothing to say); the struct stays its owner's, to free. */
void client_end(struct pending *, json_t *message);
/* Nothing is answered yet: *origin is the caller's, with its id and its place in a batch. */
void client_hand_over(struct pending *, struct origin *origin);
/* The request of that id; NULL: there is none. */
struct pending *client_find(const struct client *, const json_t *id);
/* The client wants no answer to it; an unknown id does nothing. */
void client_cancel(struct client *, const json_t *id);
/* For transports.  All of them are given up: without a word where the client has gone. */
void client_give_up(struct client *, bool gone);
/* Those without an end of their own are ended, with an answer. */
void client_drain(struct client *);
/* For transports, last of all: frees what the client itself owns. */
void client_close(struct client *);

/* A batch with one place, that of its reader; each message that will be answered takes one more. */
struct batch *client_batch(void);
void client_batch_hold(struct batch *);
