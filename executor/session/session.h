/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - workspaces that outlive a call: whose they are, who works in them, when they end.
 *
 * A session belongs to a principal in the name space that it was made in, of which none is one,
 * too; to anybody else it does not exist.
 *
 * An operation enters a session before it starts and leaves it when nothing of it is left.  One may
 * run; files may be read and sent meanwhile; a snapshot wants the workspace for itself.
 */
#pragma once

#include "executor/event.h"
#include "executor/run/limits.h"
#include "executor/sandbox/home.h"
#include "executor/session/record.h"
#include "executor/session/share.h"

enum session_way {
	SESSION_READ,  /* always */
	SESSION_WRITE, /* not beside a HOLD */
	SESSION_RUN,   /* not beside another RUN or HOLD */
	SESSION_HOLD,  /* beside a READ only */
};

struct session;

/* An operation in a session; part of whatever it is.  Zeroed: in none. */
struct session_use {
	/* Exactly once after session_wait(): the workspace, or NULL and why there is none. */
	void (*ready)(void *self, struct workspace *, const struct err *);
	/* The session is ended: leave soon.  NULL: it does so anyway. */
	void (*stop)(void *self);
	void *self;

	/* session.c's own. */
	struct session *session;
	enum session_way way;
	struct room *room; /* the workspace it was given */
	bool waiting;      /* for that */
	bool told;         /* to stop */
	struct session_use *next;
};

/* What others need to know of a session; read-only. */
struct session {
	char id[SESSION_ID];
	struct owner owner;
	char *label;       /* NULL: none */
	char *profile;     /* NULL: the server's default */
	unsigned language; /* of calls that name none; of runtime.h */
	struct limits limits;
	char *parent; /* the snapshot it was last at, or NULL */

	/* session.c's own. */
	bool main;   /* the one that calls without an id use */
	bool making; /* its workspace */
	bool ended;
	unsigned pins; /* it is being walked over */
	uint64_t ttl_ms;
	int64_t expires_ms;
	struct share shares[SHARES]; /* its box, and the workspace while that is being made */
	struct room *room;
	struct home *home;      /* NULL: nothing runs there, and no program waits */
	struct room *home_room; /* where that is */
	struct bridges bridges; /* what its programs are given */
	const char *news;       /* for the next run, or NULL */
	struct record *record;  /* what outlives this process, or NULL */
	struct session_use *uses;
	void (*gone)(void *waiter); /* called when nothing of it is left */
	void *waiter;
	struct session *next;
};

/* What a session is made from; texts are copied. */
struct session_wish {
	const char *label, *profile; /* may be NULL */
	unsigned language;
	uint64_t ttl_s;
	struct limits limits;
	bool main;
};

/* Its workspace may be made later: session_wait().  session_limit. */
struct session *session_new(const struct call *, const struct session_wish *, struct err *);
/* The one that an earlier life of this daemon left; its programs are lost.  0: the record is the
 * session's. */
int session_resume(struct record *, struct err *);
/* Nobody finds it any more, what runs in it is stopped, its workspace is wiped; the event says why.
 */
void session_end(struct session *, enum event, const char *detail);
/* In stop(). */
void session_end_all(void);

/* The caller's session of that id.  invalid_argument, not_found, session_expired. */
struct session *session_find(const struct call *, const char *id, struct err *);
/* The one it uses when it names none; made where there is none yet (*made), or not_found if made is
 * NULL. */
struct session *session_main(const struct call *, bool *made, struct err *);
/* One of both, by whether id is NULL. */
struct session *session_of(const struct call *, const char *id, bool *made, struct err *);
bool session_is_of(const struct session *, const struct call *);
/* All of them, by next. */
const struct session *session_first(void);
/* Whose it is, for events. */
struct event_owner session_owner(const struct session *);

/* session_busy: another operation is in the way.  0: leave it later. */
int session_enter(struct session *, enum session_way, struct session_use *, struct err *);
/* Calls ready, at once where the workspace is there. */
void session_wait(struct session_use *);
void session_leave(struct session_use *);
/* In ready() and after: where the session's programs live.  NULL: no memory. */
struct home *session_home(const struct session_use *);
/* A note that the next run is to carry, or NULL; asked once. */
const char *session_news(struct session *);
/* Gives the session another workspace, taken with its share; the old one is dropped when nobody
 * reads it, and its programs end. */
void session_swap(struct session_use *, struct workspace *fresh, struct share *);
/* The snapshot that the workspace now equals. */
void session_set_parent(struct session *, const char *snapshot_id);
