/* SPDX-License-Identifier: Apache-2.0 */
/* run_inner.h - an execution, shared by run.c, which drives it, run_borrow.c, which asks other
 * daemons for what it needs, and run_record.c, which records it; for no other file. */
#pragma once

#include "executor/event.h"
#include "executor/metrics.h"
#include "executor/packages/install.h"
#include "executor/redact/known.h"
#include "executor/run/network/network.h"
#include "executor/run/outcome/changes.h"
#include "executor/run/plan.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"
#include "executor/run/stream.h"
#include "executor/sandbox/workspace.h"
#include "executor/session/collect.h"

#include "common/base/work.h"

struct run {
	struct work work;         /* fills the reply */
	struct run *next, **link; /* all runs */
	struct call *call;
	char id[5 + 32 + 1];
	struct plan plan;
	struct ticket ticket;
	struct session_use use;      /* in no session if the run is stateless */
	struct pool_wait wait;       /* for a box, while it waits for one */
	struct workspace *own;       /* its workspace, */
	struct sandbox *sandbox;     /* and its sandbox; both NULL in a session */
	struct workspace *workspace; /* of the run or of the session */
	struct stream stream;
	uint64_t ask; /* pending request to approvald or the vault; 0: none */
	void (*borrowed)(struct run *, const struct err *);
	struct policy_question question; /* about the code */
	struct vault_values lent;        /* secrets of this run */
	struct known own_known;          /* the same, of a run without a session */
	struct install *install;         /* of its packages, while that goes on */
	struct package_set *packages;    /* that it names */
	struct sandbox *place;           /* where the code will run */
	struct network network;          /* of the run, if its plan names domains */
	struct sandbox *works;           /* the sandbox that runs the code now, or NULL */
	size_t nwritten;                 /* files of the plan that were written */
	struct changes changes;          /* of the workspace's files */
	struct execution reply;
	struct box_end end;
	struct workspace_limits left; /* free space after the run */
	struct err why;               /* why a step failed */
	struct collection collection; /* of the files that it left */
	struct err over;              /* why the run was stopped */
	bool recorded;                /* the start was recorded */
	int64_t began_us;             /* when the call arrived */
	double queue_ms;
	enum metrics_start start; /* where its box came from */
};

/* The secrets that are masked in its output. */
struct known *run_known(struct run *);
struct event_owner run_owner(const struct run *);
struct audit_event run_event(struct run *, enum event);
/* The event of its end; e NULL: the reply is ready. */
enum event run_event_of_end(const struct run *, const struct err *e);
/* Records sizes and codes, never output.  e NULL: the reply is ready. */
void run_record_end(struct run *, const struct err *e);
/* Asks for the approvals and the secrets that its plan needs.  then: once, also from within, with
 * why it cannot have them. */
void run_borrow(struct run *, void (*then)(struct run *, const struct err *));
/* Installs the packages that its plan names, where its code will run.  then: once, also from
 * within, with why it cannot have them. */
void run_install(struct run *, void (*then)(struct run *, const struct err *));
