/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - sessions: workspaces that outlive a call, with an owner, operations and an expiry.
 *
 * A session belongs to a principal in the namespace that it was made in (no namespace counts as
 * one, too); for all others it does not exist.
 *
 * An operation enters a session before it starts and leaves it when it has ended completely.  At
 * most one may run code; files may be read and sent meanwhile; a snapshot needs exclusive access.
 */
#pragma once

#include "executor/session/session_state.h"

/* The parameters of a new session; texts are copied. */
struct session_wish {
	const char *namespace, *profile, *name, *domains; /* may be NULL */
	unsigned language;
	bool typed;
	uint64_t ttl_s;
	struct limits limits;
	bool main;
};

/* Its workspace may be made later: session_wait().  session_limit. */
struct session *session_new(const struct call *, const struct session_wish *, struct err *);
/* Resumes a session of an earlier process of this daemon; its programs are lost.  0: the session
 * owns the record. */
int session_resume(struct record *, struct err *);
/* Removes the session from the table, stops its programs and wipes its workspace; the event records
 * the reason. */
void session_end(struct session *, enum event, const char *detail);
/* In stop(). */
void session_end_all(void);

/* The caller's session of that id, or of the name in "name:NAME".  invalid_argument, not_found,
 * session_expired. */
struct session *session_find(const struct call *, const char *id, struct err *);
/* The same session, or NULL with not_found: it is not of that namespace.  tenant NULL: of any;
 * session NULL: *e is there already. */
struct session *session_for(const char *tenant, struct session *, struct err *);
/* The session of a caller that names none.  If there is none yet, makes it and sets *made; made
 * NULL: not_found. */
struct session *session_main(const struct call *, bool *made, struct err *);
/* session_find(), or session_main() if id is NULL.  With made, also makes a session of a new
 * name. */
struct session *session_of(const struct call *, const char *id, bool *made, struct err *);
/* Refuses a new session of that id or name if the caller has that many (0: any number) and the
 * operator set no limit.  session_limit. */
int session_usual(const struct call *, const char *id, uint64_t most, struct err *);
bool session_is_of(const struct session *, const struct call *);
/* The first of all sessions; follow next. */
const struct session *session_first(void);
/* Its owner, for events. */
struct event_owner session_owner(const struct session *);

/* 0: the caller must leave later.  session_busy: another operation excludes this one. */
int session_enter(struct session *, enum session_way, struct session_use *, struct err *);
/* Calls ready, immediately if the workspace exists. */
void session_wait(struct session_use *);
void session_leave(struct session_use *);
/* In ready() and after: the sandbox of the session's programs.  fresh: one in which nothing has
 * run; programs of an earlier one end.  NULL: no memory. */
struct sandbox *session_sandbox(const struct session_use *, bool fresh);
/* From now on its programs see these packages, also those that run.  done: exactly once, maybe at
 * once; *e: they do not. */
int session_show(struct session_use *, struct package_set *,
    void (*done)(void *self, const struct err *e), void *self, struct err *);
/* Takes the note for the next run, or NULL. */
const char *session_news(struct session *);
/* Replaces the workspace of the session; takes it and its share.  The programs end, and the old
 * workspace is dropped when nobody reads it. */
void session_swap(struct session_use *, struct workspace *fresh, struct share *);
/* The number of all sessions. */
size_t session_count(void);
/* Sets the snapshot that the workspace now equals. */
void session_set_parent(struct session *, const char *snapshot_id);
