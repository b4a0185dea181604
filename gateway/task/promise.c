/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.c - requests that wait for the disk.
 *
 * The threads are made with the first task: most gateways never have one.  A thread sees the names
 * of the record only.
 */
#include "gateway/task/promise.h"

#include "gateway/rpc/jsonrpc.h"

#include "common/auto.h"
#include "common/log.h"
#include "common/work.h"

#include <string.h>

enum { THREADS = 4 }; /* what several wait for, the disk does together */

struct promise {
	struct work work;
	struct pending pending;
	char owner[RECORD_OWNER], id[RECORD_ID];
	json_t *result;
	void (*unheard)(const char *owner, const char *id);
	bool failed;
	struct err error;
};

static bool working;

static void
run(struct work *work)
{
	struct promise *p = (struct promise *)work;

	p->failed = record_sync(p->owner, p->id, &p->error) < 0;
}

static void
done(struct work *work)
{
	struct promise *p = (struct promise *)work;
	json_t *id = p->pending.origin.id, *result = take_ptr(p->result);

	if (p->failed) {
		log_error("a task was not kept", LOG_S("task", p->id), LOG_E(&p->error));
		json_decref(result);
	}
	if (p->failed || p->pending.silent)
		p->unheard(p->owner, p->id);
	client_end(&p->pending,
	    p->failed ? jsonrpc_error(id, RPC_INTERNAL, "the task could not be kept; call again")
		      : jsonrpc_result(id, result));
	free(p);
}

/* It is soon answered. */
static void
on_cancel(struct pending *unused)
{
	(void)unused;
}

static bool
have_threads(void)
{
	struct err e;

	if (working)
		return true;
	working = work_open(THREADS, &e) == 0;
	if (!working) {
		log_warn("the loop itself waits for the disk", LOG_E(&e));
		work_close();
	}
	return working;
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
	*p = (struct promise){
		.work = { .run = run, .done = done }, .result = result, .unheard = unheard
	};
	memcpy(p->owner, owner, sizeof p->owner);
	memcpy(p->id, id, sizeof p->id);
	client_begin(&p->pending, asked, on_cancel);
	if (have_threads()) {
		work_give(&p->work);
		return;
	}
	run(&p->work);
	done(&p->work);
}

void
promise_close(void)
{
	if (!working)
		return;
	working = false;
	work_close();
}
