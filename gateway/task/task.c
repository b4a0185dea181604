/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.c - requests to executors about tasks, and their answers.
 *
 * Trusts no id: an id only selects the executor, which checks the owner of the task.
 * Source: the extension's specification (SEP-2663), with its states and errors.
 */
#include "gateway/task/task.h"

#include "gateway/mcp/arguments.h"
#include "gateway/mcp/inquire.h"
#include "gateway/mcp/provider.h"
#include "gateway/mcp/result.h"
#include "gateway/task/report.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"

#include <string.h>

enum {
	ASK_MS = 60000,
};

json_t *
task_capability(void)
{
	return json_pack("{s:{s:{}}}", "extensions", REVISION_META "tasks");
}

/* Sends the message to the executor that the id names; 0 with *e. */
static uint64_t
ask(const struct account *who, enum msg_id message, const char *id, struct ask more, struct err *e)
{
	char instance[65];
	struct get_task request = { .task_id = (char *)(uintptr_t)id };

	_Static_assert(sizeof request == sizeof(struct cancel_task), "both have only an id");
	if (!arguments_instance("task_", id, instance, sizeof instance)) {
		err_set(e, ERR_not_found, "taskId: not the id of a task");
		return 0;
	}
	more.to = PEER_executor;
	more.instance = instance;
	more.message = message;
	more.request = &request;
	more.owner = &who->owner;
	more.timeout_ms = ASK_MS;
	return bus_ask(&more, e);
}

/* ---- creating a task ---- */

struct task_keeping {
	struct owner owner;
	void (*done)(void *self, json_t *result); /* NULL: the caller has left */
	void *self;
};

static void
on_left(void *self, void *reply, const struct err *e)
{
	(void)self;
	(void)reply;
	(void)e;
}

static void
cancel_unwanted(const struct task_keeping *k, const char *id)
{
	const struct account who = { .owner = k->owner };
	struct err e;

	ask(&who, MSG_cancel_task, id, (struct ask){ .done = on_left }, &e);
}

static void
on_kept(void *self, void *reply, const struct err *e)
{
	const struct origin nobody = { .revision = revision_modern() };
	struct task_keeping *k = self;
	json_t *result = NULL;

	(void)e;
	if (reply != NULL && k->done == NULL)
		cancel_unwanted(k, ((struct task_report *)reply)->task_id);
	if (reply != NULL && k->done != NULL) {
		result = report_task(&nobody, NULL, reply);
		json_object_set_new(result, "resultType", json_string("task"));
		result = method_end(revision_modern(), result, NULL);
	}
	if (k->done != NULL)
		k->done(k->self, result);
	free(k);
}

struct task_keeping *
task_keep(const struct account *who, uint64_t request, void (*done)(void *self, json_t *result),
    void *self)
{
	struct task_keeping *k = calloc(1, sizeof *k);
	struct keep_task keep = { .request = request };
	struct err e;

	must(k != NULL);
	*k = (struct task_keeping){ .owner = who->owner, .done = done, .self = self };

	const struct ask it = { .to = PEER_executor,
		.instance = bus_asked(request),
		.message = MSG_keep_task,
		.request = &keep,
		.owner = &who->owner,
		.timeout_ms = ASK_MS,
		.self = k,
		.done = on_kept };

	if (it.instance[0] != '\0' && bus_ask(&it, &e) != 0)
		return k;
	free(k);
	return NULL;
}

void
task_leave(struct task_keeping *k)
{
	if (k != NULL)
		k->done = NULL;
}

/* ---- pending requests to executors ---- */

json_t *
task_absent(const struct request *r)
{
	return method_refuse(r, "taskId: no such task, or it has expired");
}

static json_t *
answer(const struct request *r, void *reply, const struct err *e)
{
	if (reply == NULL && (e->code == ERR_not_found || e->code == ERR_invalid_argument))
		return task_absent(r);
	if (reply == NULL)
		return result_rpc_error(r->origin.id, e);
	if (strcmp(r->method->name, "tasks/get") != 0)
		return method_complete(r, json_object());
	return method_complete(r, report_task(&r->origin, r->origin.client->account, reply));
}

static bool
inquire_about(const struct request *r, enum msg_id message, const char *id, json_t **result)
{
	char instance[65];
	struct get_task request = { .task_id = (char *)(uintptr_t)id };

	if (!arguments_instance("task_", id, instance, sizeof instance))
		return false;
	*result = inquire(r,
	    (struct ask){ .to = PEER_executor,
		.instance = instance,
		.message = message,
		.request = &request },
	    answer);
	return true;
}

/* ---- the provider ---- */

/* Serves tasks/update too: a running program never asks for input, so there is nothing to pass
 * on. */
static bool
get(const struct request *r, const char *id, json_t **result)
{
	return inquire_about(r, MSG_get_task, id, result);
}

static bool
cancel(const struct request *r, const char *id, json_t **result)
{
	return inquire_about(r, MSG_cancel_task, id, result);
}

const struct provider task_provider = {
	.requests = {
		[PROVIDER_get_task] = get,
		[PROVIDER_update_task] = get,
		[PROVIDER_cancel_task] = cancel,
	},
};

/* ---- notifications ---- */

struct telling {
	struct account who;
	void (*told)(const struct account *, const char *id, const json_t *task);
};

static void
on_report(void *self, void *reply, const struct err *e)
{
	const struct origin nobody = { .revision = revision_modern() };
	struct telling *t = self;

	(void)e;
	if (reply != NULL) {
		struct task_report *report = reply;
		auto_free char *id = strdup(report->task_id);
		json_t *value = report_task(&nobody, &t->who, report);

		must(id != NULL);
		t->told(&t->who, id, value);
		json_decref(value);
	}
	free(t);
}

void
task_look(const struct account *who, const char *id,
    void (*told)(const struct account *, const char *id, const json_t *task))
{
	struct telling *t = calloc(1, sizeof *t);
	struct err e;

	must(t != NULL);
	t->told = told;
	t->who = (struct account){ .owner = who->owner };
	if (ask(&t->who, MSG_get_task, id, (struct ask){ .self = t, .done = on_report }, &e) == 0)
		on_report(t, NULL, &e);
}

/* ---- which tasks exist ---- */

/* Queries one task after the other, so that a long list uses no more of the bus than one
 * request. */
struct filter {
	struct pending pending;
	struct request request; /* with references of its own */
	struct account *account;
	json_t *ids; /* the first `left` are not checked yet */
	size_t left;
	uint64_t ask;
	bool (*known)(const struct account *, const char *id);
	json_t *(*then)(const struct request *, json_t *ids);
};

static void
filter_free(struct filter *f)
{
	json_decref(f->request.params);
	json_decref(f->request.capabilities);
	json_decref(f->ids);
	free(f);
}

static void
filter_end(struct filter *f)
{
	struct request r = f->request;
	struct origin origin;
	json_t *answer;

	f->account->count--;
	if (f->pending.silent) {
		client_end(&f->pending, NULL);
		filter_free(f);
		return;
	}
	client_hand_over(&f->pending, &origin);
	r.origin = origin;
	answer = f->then(&r, take_ptr(f->ids));
	if (answer != NULL)
		client_answer(&origin, answer);
	json_decref(origin.id);
	filter_free(f);
}

static void filter_next(struct filter *);

static void
on_known(void *self, void *reply, const struct err *e)
{
	struct filter *f = self;

	(void)e;
	if (reply == NULL)
		json_array_remove(f->ids, f->left);
	f->ask = 0;
	filter_next(f);
}

static void
filter_next(struct filter *f)
{
	struct err e;

	while (f->left > 0 && !f->pending.silent) {
		const char *id = json_string_value(json_array_get(f->ids, --f->left));

		if (f->known(f->account, id))
			continue;
		f->ask = ask(
		    f->account, MSG_get_task, id, (struct ask){ .self = f, .done = on_known }, &e);
		if (f->ask != 0)
			return;
		json_array_remove(f->ids, f->left);
	}
	filter_end(f);
}

static void
cancel_filter(struct pending *p)
{
	struct filter *f = (struct filter *)p;

	if (f->ask != 0)
		bus_cancel(f->ask);
}

json_t *
task_filter(const struct request *r, json_t *ids,
    bool (*known)(const struct account *, const char *id),
    json_t *(*then)(const struct request *, json_t *ids))
{
	struct filter *f;

	if (json_array_size(ids) == 0)
		return then(r, ids);
	f = calloc(1, sizeof *f);
	must(f != NULL);
	*f = (struct filter){ .request = *r,
		.account = r->origin.client->account,
		.ids = ids,
		.left = json_array_size(ids),
		.known = known,
		.then = then };
	json_incref(f->request.params);
	json_incref(f->request.capabilities);
	f->request.meta = json_object_get(f->request.params, "_meta");
	f->request.inputs = NULL;
	f->account->count++;
	client_begin(&f->pending, &r->origin, cancel_filter);
	filter_next(f);
	return NULL;
}
