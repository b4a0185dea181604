/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - an execution, from its arguments to its reply.
 *
 * Theory of operation.  A run has steps; each starts an operation and continues in its callback:
 *
 * 	waiting   for a turn in the queue; from here on it holds its session
 * 	checking  the validator reads the code, unless a verdict is cached or the profile has no
 * 	          rules
 * 	preparing records the start; makes the workspace, writes files to it and lists them
 * 	lending   gets the secrets that the run names from the vault
 * 	running   runs the code, in a box of the pool or in the session's
 * 	telling   converts the output to text, in a thread if it is long
 * 	ending    lists the files that the program left
 *
 * It ends in exactly one place, finish().  It can be stopped at any moment: the caller cancels,
 * the deadline passes, the session ends.  Then `over` has the reason, the current operation is
 * asked to stop, and its callback finishes the run.  Nothing is freed before.
 */
#include "executor/run/run.h"

#include "executor/kept/code.h"
#include "executor/metrics.h"
#include "executor/options.h"
#include "executor/run/check/verdicts.h"
#include "executor/run/day_use.h"
#include "executor/run/network/user_base.h"
#include "executor/run/outcome/outcome.h"
#include "executor/run/run_inner.h"
#include "executor/run/run_rights.h"
#include "executor/run/secrets.h"
#include "executor/runtime.h"
#include "executor/sandbox/workspace.h"
#include "executor/session/ledger.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/journal/spool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct run *runs;

/* ---- the end ---- */

static void
free_run(struct run *run)
{
	pool_leave(&run->wait);
	*run->link = run->next;
	if (run->next != NULL)
		run->next->link = run->link;
	network_drop(&run->network);
	changes_clear(&run->changes);
	box_end_clear(&run->end);
	message_clear(MSG_execution, &run->reply);
	known_wipe(&run->lent);
	known_clear(&run->own_known);
	package_set_put(run->packages);
	plan_clear(&run->plan);
	free(run);
}

/* Each result has auditd's latest signed head, so that copies of it exist outside this machine. */
static void
reply_to(struct call *call, struct execution *reply)
{
	if (spool_checkpoint()[0] != '\0')
		reply->audit_checkpoint = strdup(spool_checkpoint());
	call_reply(call, reply);
}

/* The only end of a run that has begun; e NULL: the reply is ready.  The session is released
 * before the reply, because the caller may use it next.  The run's own box and workspace, and
 * its place in the queue, are released after the reply: the caller does not wait for them. */
static void
finish(struct run *run, const struct err *e)
{
	struct call *call = run->call;

	if (run->recorded || run->over.code != ERR_none)
		run_record_end(run, e);
	metrics_note_run(&run->reply,
	    (const unsigned[METRIC_LABELS]){
		run->plan.language, run_event_of_end(run, e), run->start },
	    loop_now_us() - run->began_us);
	stream_close(&run->stream);
	session_leave(&run->use);
	if (e == NULL)
		reply_to(call, &run->reply);
	else
		call_fail(call, e);
	sandbox_wipe(run->sandbox, run->own);
	queue_leave(&run->ticket);
	free_run(run);
	pool_refill();
}

/* Each step calls this first.  true: the run is over, and this call has finished it. */
static bool
failed(struct run *run, const struct err *e)
{
	struct err why = run->over;

	if (why.code == ERR_none && e != NULL)
		why = *e;
	if (why.code == ERR_none)
		return false;
	finish(run, &why);
	return true;
}

void
run_end_all(void)
{
	for (struct run *run = runs; run != NULL; run = run->next) {
		err_set(&run->over, ERR_cancelled, "the server is shutting down");
		if (run->recorded)
			run_record_end(run, &run->over);
	}
}

/* ---- ending ---- */

static void
collected(void *self, const struct err *e)
{
	struct run *run = self;

	if (failed(run, e))
		return;
	ledger_keep(&run->call->owner, &run->reply);
	finish(run, NULL);
}

static void
collect(void *self)
{
	struct run *run = self;
	struct err e;

	if (failed(run, NULL))
		return;
	run->reply.usage->queue_ms = run->queue_ms;
	run->collection.owner = run_owner(run);
	if (changes_tell(&run->changes, &run->reply, run->own != NULL, &e) < 0 ||
	    secrets_hide_names(run_known(run), &run->reply, &e) < 0)
		finish(run, &e);
	else
		collect_start(&run->collection);
}

/* Runs in a thread; nothing else accesses the run meanwhile. */
static void
fill_reply(struct work *work)
{
	struct run *run = (struct run *)work;

	if (outcome_fill(&run->reply, &run->end, &run->plan, &run->left, &run->why) == 0)
		collect_settle(&run->collection, &run->why);
}

static void
reply_filled(struct work *work)
{
	struct run *run = (struct run *)work;

	box_end_clear(&run->end);
	if (run->why.code == ERR_none)
		network_tell(&run->network, &run->reply, &run->why);
	if (!failed(run, &run->why))
		changes_after(&run->changes, run->workspace, run->plan.limits.room.files, collect);
}

static void
network_ended(void *self, const struct err *e)
{
	struct run *run = self;

	day_use_add(&run->call->owner, run->end.cpu_ms,
	    run->network.report.bytes_in + run->network.report.bytes_out);
	if (failed(run, e))
		return;
	run->collection = (struct collection){ run->workspace, &run->reply, .done = collected,
		.contents = run->plan.contents, .self = run };
	run->work = (struct work){ .run = fill_reply, .done = reply_filled };
	work_over(&run->work, outcome_bytes(&run->end));
}

static void
code_done(void *self, struct box_end *end, const struct err *e)
{
	struct run *run = self;

	run->works = NULL;
	if (end == NULL)
		run->why = *e;
	if (end == NULL ||
	    workspace_left(run->workspace, &run->left, &run->changes.bare, &run->why) < 0) {
		failed(run, &run->why);
		return;
	}
	run->end = *end;
	*end = (struct box_end){ 0 };
	network_end(&run->network, network_ended, run);
}

/* ---- running ---- */

static void
code_output(void *self, enum channel channel, const void *data, size_t size)
{
	struct run *run = self;

	stream_output(&run->stream, channel, data, size);
}

static int
add_news(struct run *run)
{
	struct session *session = run->use.session;
	const char *news = session != NULL ? session_news(session) : NULL;

	return news != NULL ? texts_add(&run->reply.notes, news) : 0;
}

/* With a network, if the run has one. */
static void
run_code(void *self, const struct err *why)
{
	static const struct sandbox_events seen = { code_output, code_done },
					   unseen = { NULL, code_done };
	struct run *run = self;
	const struct plan *plan = &run->plan;
	struct sandbox_code code = {
		.language = plan->language,
		.zygote = plan->zygote,
		.code = {
			.data = plan->code.data,
			.size = plan->code.size,
			.statement = plan->statement,
			.manners = plan->manners,
			.files = !run->changes.bare,
			.wall_ms = plan->limits.box.wall_ms,
			.cpu_ms = plan->limits.box.cpu_ms,
			.output_bytes = plan->limits.box.output_bytes,
			.secrets = &run->lent,
			.redact = run_known(run)->redact,
			.arguments = &plan->arguments,
			.input = &plan->input,
		},
	};
	struct err e;

	if (failed(run, why))
		return;
	if (policy_guard(&plan->policy, &code.code.guard, &e) < 0) {
		finish(run, &e);
		return;
	}
	stream_progress(&run->stream, "started\n");
	run->works = run->place;
	if (sandbox_run(run->place, &code, plan->capture ? &seen : &unseen, run, &e) < 0) {
		run->works = NULL;
		finish(run, &e);
	}
	blob_clear(&code.code.guard);
}

static void
open_network(void *self, const struct err *why)
{
	struct run *run = self;
	struct err e;

	if (failed(run, why))
		return;
	run->network.id = run->id, run->network.owner = run_owner(run);
	run->network.domains = &run->plan.domains;
	run->network.known = run_known(run);
	if (network_begin(&run->network, run->place, run_code, run, &e) < 0)
		finish(run, &e);
}

static void
open_ways_out(struct run *run, const struct err *why)
{
	struct err e;

	if (failed(run, why))
		return;
	if (run->plan.domains.count == 0)
		run_code(run, NULL);
	else if (!user_base_wanted(&run->plan))
		open_network(run, NULL);
	else if (sandbox_user_base(run->place, open_network, run, &e) < 0)
		finish(run, &e);
}

static void
find_place(void *self)
{
	struct run *run = self;
	struct err e;

	if (failed(run, NULL))
		return;
	run->place =
	    run->use.session != NULL ? session_sandbox(&run->use, run->plan.fresh) : run->sandbox;
	if (run->place == NULL || add_news(run) < 0) {
		err_sys(&e, "sandbox");
		finish(run, &e);
	} else
		run_install(run, open_ways_out);
}

/* ---- preparing ---- */

static void
file_written(void *self, const struct err *e)
{
	struct run *run = self;

	if (failed(run, e))
		return;
	if (run->nwritten < run->plan.nfiles) {
		struct plan_file *file = &run->plan.files[run->nwritten++];

		files_write(run->workspace, file->path, &file->content, true, file_written, run);
		return;
	}
	changes_before(&run->changes, run->workspace, run->own != NULL && run->nwritten == 0,
	    run->plan.limits.room.files, find_place, run);
}

/* For a run without a session: the interpreter starts while files are written. */
static int
settle_in(struct run *run, struct err *e)
{
	if (run->sandbox != NULL)
		return 0;
	run->sandbox = sandbox_new(SANDBOX_ALONE, run->workspace, &run->plan.limits.box);
	if (run->sandbox == NULL)
		return err_sys(e, "sandbox");
	return sandbox_prepare(run->sandbox, run->plan.language, run->plan.zygote, true, e);
}

static void
workspace_ready(void *self, struct workspace *workspace, const struct err *e)
{
	struct run *run = self;
	struct err why = { 0 };

	must(workspace != NULL || e != NULL);
	run->workspace = workspace;
	if (workspace == NULL)
		why = *e;
	else if (run->use.session == NULL) {
		run->own = workspace;
		if (run->over.code == ERR_none)
			settle_in(run, &why);
	}
	if (!failed(run, &why))
		file_written(run, NULL);
}

static void
make_own(struct run *run)
{
	run->start = METRICS_START_made;
	workspace_make(&run->plan.limits.room, workspace_ready, run);
}

static void
box_came(void *self, struct workspace *workspace, struct sandbox *sandbox)
{
	struct run *run = self;

	run->sandbox = sandbox;
	if (sandbox == NULL)
		make_own(run);
	else
		workspace_ready(run, workspace, NULL);
}

static void
take_box(struct run *run)
{
	const struct plan *plan = &run->plan;
	struct workspace *workspace;

	run->start = run->use.session != NULL ? METRICS_START_session : METRICS_START_pool;
	if (run->use.session != NULL)
		session_wait(&run->use);
	else if (pool_take(SANDBOX_ALONE, plan->language, plan->zygote, &plan->limits, &workspace,
		     &run->sandbox))
		workspace_ready(run, workspace, NULL);
	else if (!pool_wait(SANDBOX_ALONE, plan->language, plan->zygote, &plan->limits, &run->wait))
		make_own(run);
}

static void
borrowed(struct run *run, const struct err *e)
{
	if (!failed(run, e))
		take_box(run);
}

static void
prepare(struct run *run)
{
	struct event_owner owner = run_owner(run);
	struct err e;

	if (event_record(&owner, run_event(run, event_execution_started), &e) < 0) {
		finish(run, &e);
		return;
	}
	run->recorded = true;
	run_borrow(run, borrowed);
}

/* ---- checking ---- */

static void
refuse(struct run *run, const struct validation_report *report)
{
	struct event_owner owner = run_owner(run);
	struct err e;

	if (policy_explain(report, &run->reply, &e) < 0) {
		finish(run, &e);
		return;
	}

	bool policy = strcmp(run->reply.error->code, err_name(ERR_policy_violation)) == 0;
	struct audit_event event =
	    run_event(run, policy ? event_policy_violation : event_execution_failed);

	event.code = run->reply.error->code;
	event_note(&owner, event);
	finish(run, NULL);
}

static void
checked(void *self, void *reply, const struct err *e)
{
	struct run *run = self;
	const struct validation_report *report = reply;
	struct err late;

	run->question = (struct policy_question){ 0 };
	if (report == NULL && e->code == ERR_deadline_exceeded) {
		err_set(&late, ERR_unavailable, "the validator did not answer in time");
		e = &late;
	}
	if (failed(run, report == NULL ? e : NULL))
		return;
	must(report != NULL);
	if (!report->validation->valid) {
		refuse(run, report);
		return;
	}
	verdicts_keep(&run->call->owner, &run->plan);
	prepare(run);
}

/* ---- waiting ---- */

static void
place_found(void *self)
{
	struct run *run = self;
	int64_t waited_us = loop_now_us() - run->began_us;
	struct err e;

	run->queue_ms = (double)waited_us / 1000;
	metric_time(
	    &metrics_rows[METRICS_run_queue_seconds], METRIC_AT(run->plan.language), waited_us);
	if (!policy_restricts(&run->plan.policy) || verdicts_has(&run->call->owner, &run->plan)) {
		prepare(run);
		return;
	}
	run->plan.policy.owner = &run->call->owner;
	if (policy_ask(&run->plan.policy, &run->plan.code, &run->question, checked, run, &e) < 0)
		finish(run, &e);
}

/* Stops the current operation; its callback finishes the run. */
static void
give_up(struct run *run, enum err_code code, const char *why)
{
	if (run->over.code != ERR_none)
		return;
	err_set(&run->over, code, "%s", why);
	if (run->ticket.state == TICKET_WAITS)
		finish(run, &run->over);
	else if (run->ask != 0)
		bus_cancel(run->ask);
	else if (run->install != NULL)
		install_cancel(run->install);
	else if (run->works != NULL)
		sandbox_interrupt(run->works);
	else
		policy_drop(&run->question);
}

static void
call_cancelled(struct call *call, enum err_code why)
{
	give_up(call->self, why, "the caller no longer waits for it");
}

static void
session_ended(void *self)
{
	struct run *run = self;

	if (run->works != NULL)
		sandbox_kill(run->works);
	give_up(run, ERR_cancelled, "the session was ended during this run");
}

/* ---- beginning ---- */

static struct run *
new_run(struct call *call, struct execute_code *ask, struct session *session, struct err *e)
{
	struct run *run = calloc(1, sizeof *run);

	if (run == NULL) {
		err_sys(e, "run");
		return NULL;
	}
	if (run_rights_plan(&run->plan, call, ask, session, e) < 0) {
		free(run);
		return NULL;
	}
	run->call = call;
	run->began_us = loop_now_us();
	memcpy(run->id, "exec_", 5);
	hash_random_hex(run->id + 5, sizeof run->id - 5);
	run->ticket = (struct ticket){
		.owner = &call->owner,
		.class = session != NULL ? QUEUE_SESSION : QUEUE_STATELESS,
		.bytes = run->plan.bytes,
		.box_bytes = session == NULL ? share_of_box(&run->plan.limits) : 0,
		.start = place_found,
		.self = run,
	};
	run->wait = (struct pool_wait){ .come = box_came, .self = run };
	run->use =
	    (struct session_use){ .ready = workspace_ready, .stop = session_ended, .self = run };
	code_keep(&call->owner, run->id, &run->plan.code);
	run->reply.execution_id = strdup(run->id);
	run->reply.language = strdup(runtime_name(run->plan.language, run->plan.typed));
	run->reply.session_id = session != NULL ? strdup(session->id) : NULL;
	run->next = runs;
	run->link = &runs;
	if (runs != NULL)
		runs->link = &run->next;
	runs = run;
	return run;
}

int
run_begin(
    struct call *call, struct execute_code *ask, struct session *session, bool fresh, struct err *e)
{
	if (call->owner.principal[0] == 0)
		return err_set(e, ERR_unauthenticated, "only an authenticated caller can run code");

	struct run *run = new_run(call, ask, session, e);

	if (run == NULL)
		return -1;
	if (fresh)
		must(texts_add(&run->reply.notes, "A new default session was created.") == 0);
	if (session != NULL && session_enter(session, SESSION_RUN, &run->use, e) < 0) {
		free_run(run);
		return -1;
	}
	stream_open(&run->stream, call, run->plan.limits.box.output_bytes);
	if (queue_is_busy(&run->ticket))
		stream_progress(&run->stream, "queued\n");
	call->self = run;
	call->on_cancel = call_cancelled;
	if (queue_enter(&run->ticket, e) < 0) {
		call->on_cancel = NULL;
		session_leave(&run->use);
		stream_close(&run->stream);
		free_run(run);
		return -1;
	}
	return 0;
}
