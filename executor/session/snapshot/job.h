/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - what taking and restoring a snapshot have in common: a call, a session held,
 * steps under way, and one end.
 *
 * Every step that is started is counted by snapshot_job_step(), and says in its callback, first,
 * snapshot_job_failed().  The job ends when a step failed or nobody wants it any more, but not
 * before the last step under way has come back.
 */
#pragma once

#include "executor/files/files.h"
#include "executor/session/session.h"

struct snapshot_job {
	struct call *call;
	struct session_use use;
	struct workspace *workspace;
	unsigned pending;                     /* steps under way */
	struct err over;                      /* why it ends early */
	void (*go)(struct snapshot_job *);    /* the session is held */
	void (*clear)(struct snapshot_job *); /* frees what it has of its own */
};

/* Takes *job, of malloc, also on -1.  Holds the session of that id, or the default one, for it;
 * then it goes. */
int snapshot_job_begin(struct snapshot_job *, struct call *, const char *session_id, struct err *);
void snapshot_job_step(struct snapshot_job *);
/* e: how the step ended, NULL or ERR_none: well.  true: leave the job alone, it ends or has ended.
 */
bool snapshot_job_failed(struct snapshot_job *, const struct err *e);
/* A step: asks snapshotd in the name of the call. */
void snapshot_job_ask(struct snapshot_job *, enum msg_id, void *request,
    void (*done)(void *self, void *reply, const struct err *e), void *self);
/* Answers and frees it; no step is under way. */
void snapshot_job_end(struct snapshot_job *, void *reply);
