/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.c - requests, and ends of tasks, that wait for the disk.
 */
#include "gateway/task/promise.h"

#include "gateway/rpc/jsonrpc.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/work.h"

#include <string.h>

/* What a thread does; it sees nothing else. */
struct job {
	struct work work;
	char owner[RECORD_OWNER], id[RECORD_ID];
	char *end; /* JSON; NULL: it is the beginning that is kept */
	bool failed;
	struct err error;
};

struct promise {
	struct job job;
	struct pending pending;
	json_t *result;
	void (*unheard)(const char *owner, const char *id);
};

struct ending {
	struct job job;
	void (*done)(void *self, bool kept);
	void *self;
};

/* ---- threads ---- */

static void
run(struct work *work)
{
	struct job *j = (struct job *)work;

	j->failed = j->end == NULL ? record_sync(j->owner, j->id, &j->error) < 0
	                           : record_end(j->owner, j->id, j->end, &j->error) < 0;
}

static void
give(struct job *j, const char owner[RECORD_OWNER], const char id[RECORD_ID],
    void (*done)(struct work *))
{
	j->work = (struct work){ .run = run, .done = done };
	memcpy(j->owner, owner, sizeof j->owner);
	memcpy(j->id, id, sizeof j->id);
	work_do(&j->work);
}

void
promise_close(void)
{
	work_close();
}

/* ---- beginnings ---- */

static void
made(struct work *work)
{
	struct promise *p = (struct promise *)work;
	json_t *id = p->pending.origin.id, *result = take_ptr(p->result);

	if (p->job.failed) {
		log_error("a task was not kept", LOG_S("task", p->job.id), LOG_E(&p->job.error));
		json_decref(result);
	}
	if (p->job.failed || p->pending.silent)
		p->unheard(p->job.owner, p->job.id);
	client_end(&p->pending, p->job.failed ? jsonrpc_error(id, RPC_INTERNAL,
						    "the task could not be kept; call again")
					      : jsonrpc_result(id, result));
	free(p);
}

/* It is soon answered. */
static void
on_cancel(struct pending *unused)
{
	(void)unused;
}

void
promise_make(const struct origin *asked, const char owner[RECORD_OWNER], const char id[RECORD_ID],
    json_t *result, void (*unheard)(const char *owner, const char *id))
{
	struct promise *p = calloc(1, sizeof *p);

	must(asked->batch == NULL);
	if (p == NULL) {
		json_decref(result);
		unheard(owner, id);
		client_answer(asked, jsonrpc_error(asked->id, RPC_INTERNAL, "out of memory"));
		return;
	}
	*p = (struct promise){ .result = result, .unheard = unheard };
	client_begin(&p->pending, asked, on_cancel);
	give(&p->job, owner, id, made);
}

/* ---- ends ---- */

static void
kept(struct work *work)
{
	struct ending *it = (struct ending *)work;

	if (it->job.failed)
		log_error("the end of a task was not kept", LOG_S("task", it->job.id),
		    LOG_E(&it->job.error));
	it->done(it->self, !it->job.failed);
	free(it->job.end);
	free(it);
}

void
promise_keep(const char owner[RECORD_OWNER], const char id[RECORD_ID], const json_t *end,
    void (*done)(void *self, bool kept), void *self)
{
	struct ending *it = calloc(1, sizeof *it);
	char *text = json_dumps(end, JSON_COMPACT);

	if (it == NULL || text == NULL) {
		log_error("no memory to keep the end of a task", LOG_S("task", id));
		free(it);
		free(text);
		done(self, false);
		return;
	}
	*it = (struct ending){ .job.end = text, .done = done, .self = self };
	give(&it->job, owner, id, kept);
}
