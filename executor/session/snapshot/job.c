/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - the steps of a snapshot job; the call or session may end before the job does. */
#include "executor/session/snapshot/job.h"

#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"

static void
free_job(struct snapshot_job *job)
{
	session_leave(&job->use);
	job->clear(job);
	free(job);
}

/* ---- the end ---- */

static void
fail(struct snapshot_job *job)
{
	struct call *call = job->call;
	struct err why = job->over;

	free_job(job);
	call_fail(call, &why);
}

void
snapshot_job_end(struct snapshot_job *job, void *reply)
{
	struct call *call = job->call;

	must(job->pending == 0);
	/* Before the reply, because the caller may use the session next. */
	session_leave(&job->use);
	call_reply(call, reply);
	free_job(job);
}

bool
snapshot_job_failed(struct snapshot_job *job, const struct err *e)
{
	must(job->pending > 0);
	job->pending--;
	if (e != NULL && e->code != ERR_none && job->over.code == ERR_none)
		job->over = *e;
	if (job->over.code == ERR_none)
		return false;
	if (job->pending == 0)
		fail(job);
	return true;
}

/* ---- the beginning ---- */

static void
cancelled(struct call *call, enum err_code why)
{
	struct snapshot_job *job = call->self;

	if (job->over.code == ERR_none)
		err_set(&job->over, why, "the caller no longer waits");
}

static void
stopped(void *self)
{
	struct snapshot_job *job = self;

	if (job->over.code == ERR_none)
		err_set(&job->over, ERR_cancelled, "the session ended in the meantime");
}

static void
held(void *self, struct workspace *workspace, const struct err *e)
{
	struct snapshot_job *job = self;

	job->workspace = workspace;
	if (!snapshot_job_failed(job, workspace == NULL ? e : NULL))
		job->go(job);
}

int
snapshot_job_begin(
    struct snapshot_job *job, struct call *call, const char *session_id, struct err *e)
{
	bool made;
	struct session *session = session_of(call, session_id, &made, e);

	job->use = (struct session_use){ .ready = held, .stop = stopped, .self = job };
	if (session == NULL || session_enter(session, SESSION_HOLD, &job->use, e) < 0) {
		free_job(job);
		return -1;
	}
	job->call = call;
	call->self = job;
	call->on_cancel = cancelled;
	snapshot_job_step(job);
	session_wait(&job->use);
	return 0;
}

void
snapshot_job_step(struct snapshot_job *job)
{
	job->pending++;
}

/* A request that the bus refused. */
struct refusal {
	void (*done)(void *self, void *reply, const struct err *e);
	void *self;
	struct err why;
};

static void
refuse(void *self)
{
	auto_free struct refusal *refusal = self;

	refusal->done(refusal->self, NULL, &refusal->why);
}

void
snapshot_job_ask(struct snapshot_job *job, enum msg_id message, void *request,
    void (*done)(void *self, void *reply, const struct err *e), void *self)
{
	struct refusal *refusal = malloc(sizeof *refusal);
	const struct ask ask = {
		.to = PEER_snapshotd,
		.message = message,
		.request = request,
		.owner = &job->call->owner,
		.trace = job->call->trace,
		.timeout_ms = (int64_t)options.snapshot_ms,
		.self = self,
		.done = done,
	};

	must(refusal != NULL);
	snapshot_job_step(job);
	if (bus_ask(&ask, &refusal->why) != 0) {
		free(refusal);
		return;
	}
	/* Reported from the loop, like a reply, because the caller is not ready for a callback
	 * now. */
	refusal->done = done;
	refusal->self = self;
	loop_after(0, refuse, refusal);
}
