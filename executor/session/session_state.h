/* SPDX-License-Identifier: Apache-2.0 */
/* session_state.h - a session and the operations in it, for the files that read them. */
#pragma once

#include "executor/event.h"
#include "executor/packages/package_set.h"
#include "executor/redact/known.h"
#include "executor/run/limits.h"
#include "executor/sandbox/sandbox.h"
#include "executor/session/record.h"
#include "executor/session/share.h"

enum session_way {
	SESSION_READ,  /* always allowed */
	SESSION_WRITE, /* excludes HOLD */
	SESSION_RUN,   /* excludes RUN and HOLD */
	SESSION_HOLD,  /* excludes all but READ */
};

struct session;

/* An operation in a session; embedded in the operation's own struct.  Zeroed: in none. */
struct session_use {
	/* Called exactly once after session_wait(): the workspace, or NULL and the error. */
	void (*ready)(void *self, struct workspace *, const struct err *);
	/* The session ends: leave soon.  NULL: the operation does so anyway. */
	void (*stop)(void *self);
	void *self;

	/* session.c's own. */
	struct session *session;
	enum session_way way;
	struct workspace_ref *room; /* the workspace that the operation uses */
	bool waiting;               /* for the workspace */
	bool told;                  /* stop() was called */
	struct session_use *next;
};

/* A session; read-only for other files. */
struct session {
	char id[SESSION_ID];
	struct owner owner;
	char *namespace;   /* NULL: none */
	char *name;        /* that the client chose; NULL: none */
	char *profile;     /* NULL: the server's default */
	char *domains;     /* of its calls' networks (run/network/domains.h); NULL: no list */
	unsigned language; /* of calls that name none; see runtime.h */
	bool typed;        /* and that is TypeScript */
	struct limits limits;
	char *parent; /* the snapshot last taken or restored, or NULL */

	/* session.c's own. */
	bool main;   /* used by calls without an id */
	bool making; /* its workspace is being made */
	bool ended;
	bool ran;      /* code has run in its sandbox, or in an earlier one */
	unsigned pins; /* iterations that still need this session */
	uint64_t ttl_ms;
	int64_t expires_ms;
	struct share shares[SHARES]; /* its box, and the workspace while that is being made */
	struct workspace_ref *room;
	struct sandbox *sandbox;            /* NULL: no program runs or waits */
	struct workspace_ref *sandbox_room; /* the workspace of `sandbox` */
	struct known known;                 /* secrets that its programs got */
	struct bridges bridges;             /* values for its programs */
	struct package_set *packages;       /* its packages; NULL: none */
	bool installing;                    /* packages: one installation at a time */
	const char *news;                   /* a note for the next run, or NULL */
	struct record *record;              /* survives this process; or NULL */
	struct session_use *uses;
	void (*gone)(void *waiter); /* called when all of it has ended */
	void *waiter;
	struct session *next;
};
