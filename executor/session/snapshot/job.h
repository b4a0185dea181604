/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - the common part of taking and restoring a snapshot: a call, a held session, pending
 * steps, and one end.
 *
 * snapshot_job_step() counts each step that is started; the step's callback must call
 * snapshot_job_failed() first.  The job ends early if a step failed or the call was cancelled, but
 * not before the last pending step has returned.
 */
#pragma once

#include "executor/files/files.h"
#include "executor/session/session.h"

struct snapshot_job {
	struct call *call;
	struct session_use use;
	struct workspace *workspace;
	unsigned pending;                     /* steps that have not returned */
	struct err over;                      /* why it ends early */
	void (*go)(struct snapshot_job *);    /* the session is held */
	void (*clear)(struct snapshot_job *); /* frees the job's own members */
};

/* Takes *job, allocated with malloc, also on -1.  Holds the session of that id, or the default one,
 * and then calls go(). */
int snapshot_job_begin(struct snapshot_job *, struct call *, const char *session_id, struct err *);
void snapshot_job_step(struct snapshot_job *);
/* e: the step's result; NULL or ERR_none: success.  true: the job ends or has ended, do not use it.
 */
bool snapshot_job_failed(struct snapshot_job *, const struct err *e);
/* A step: sends a request to snapshotd on behalf of the call. */
void snapshot_job_ask(struct snapshot_job *, enum msg_id, void *request,
    void (*done)(void *self, void *reply, const struct err *e), void *self);
/* Answers the call and frees the job; no step may be pending. */
void snapshot_job_end(struct snapshot_job *, void *reply);
