/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.c - tasks that run here, and what is told of any.
 *
 * Theory of operation: a task is the client of its call.  The call does not know: its answer goes
 * to a client as always, which is the task, which keeps it (promise.h) and is gone.  From then on,
 * and for tasks of other gateways, what is told is what was kept; until then the task runs, and who
 * asks for it while its end is on the way to the disk waits.
 * Source: the extension's specification (SEP-2663), with its states and errors.
 */
#include "gateway/task/task.h"

#include "gateway/mcp/handlers.h"
#include "gateway/task/promise.h"
#include "gateway/task/record.h"

#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	POLL_MS = 1000,
	SWEEP_MS = 600000,
	MAX_WAITERS = 64,
};

/* A request about a task whose end is being kept; it is answered when that is. */
struct waiter {
	struct waiter *next;
	struct pending pending;
	bool reads; /* tasks/get */
};

struct task {
	struct task *next;
	struct client client; /* of the call */
	struct account account;
	char *principal, *namespace;
	char id[RECORD_ID], owner[RECORD_OWNER];
	char created[TIMESTAMP_TEXT], updated[TIMESTAMP_TEXT];
	int fd;         /* held until its end is kept */
	json_t *inputs; /* what it waits for: {key: {"method", "params"}} */
	void (*got)(void *self, const char *key, const json_t *response);
	void *self;
	json_t *end; /* what it came to; NULL: it runs */
	struct waiter *waiters;
	size_t nwaiters;
};

static struct task *tasks;
static int64_t swept_ms;
static bool kept, ending;
static void (*changed)(const struct account *, const char *id, const json_t *task);

void
task_open(int state)
{
	record_open(state);
	kept = state >= 0;
}

static struct task *
task_of(struct client *client)
{
	return (struct task *)((char *)client - offsetof(struct task, client));
}

static void
now(char text[TIMESTAMP_TEXT])
{
	timestamp_text(timestamp_now(), 3, text);
}

/* ---- what is told ---- */

static json_t *
describe(const struct task *t, const char *status, const char *text)
{
	return json_pack("{s:s, s:s, s:s*, s:s, s:s, s:I, s:i}", "taskId", t->id, "status", status,
	    "statusMessage", text, "createdAt", t->created, "lastUpdatedAt", t->updated, "ttlMs",
	    (json_int_t)options.task_ttl_ms, "pollIntervalMs", POLL_MS);
}

static json_t *
describe_running(const struct task *t)
{
	bool asks = json_object_size(t->inputs) > 0;
	json_t *value = describe(t, asks ? "input_required" : "working", NULL);

	if (asks)
		json_object_set_new(value, "inputRequests", json_copy(t->inputs));
	return value;
}

void
task_watch(void (*told)(const struct account *, const char *id, const json_t *task))
{
	changed = told;
}

static void
tell_change(const struct account *who, const char *id, const json_t *task)
{
	if (changed != NULL)
		changed(who, id, task);
}

json_t *
task_capability(void)
{
	return json_pack("{s:{s:{}}}", "extensions", ERA_META "tasks");
}

static void
publish(struct task *t)
{
	json_t *value;

	if (t->end != NULL)
		return;
	now(t->updated);
	value = describe_running(t);
	tell_change(&t->account, t->id, value);
	json_decref(value);
}

/* ---- the end ---- */

static void
task_free(struct task *t)
{
	struct task **at = &tasks;

	while (*at != NULL && *at != t)
		at = &(*at)->next;
	if (*at != NULL)
		*at = t->next;
	if (t->fd >= 0)
		close(t->fd);
	json_decref(t->inputs);
	json_decref(t->end);
	free(t->principal);
	free(t->namespace);
	free(t);
}

static json_t *
say_lost(json_t *value)
{
	static const char text[] = "the gateway ended while this ran; call again";

	json_object_set_new(value, "status", json_string("failed"));
	json_object_set_new(value, "statusMessage", json_string(text));
	json_object_set_new(
	    value, "error", json_pack("{s:i, s:s}", "code", RPC_INTERNAL, "message", text));
	return value;
}

/* message: the answer to the call; NULL: it was cancelled. */
static json_t *
describe_end(struct task *t, const json_t *message)
{
	json_t *result = json_object_get(message, "result");
	json_t *error = json_object_get(message, "error");
	json_t *value;

	now(t->updated);
	if (ending)
		return say_lost(describe(t, "failed", NULL));
	if (result != NULL) {
		value = describe(t, "completed", NULL);
		json_object_set(value, "result", result);
	} else if (error != NULL) {
		value = describe(t, "failed", json_string_value(json_object_get(error, "message")));
		json_object_set(value, "error", error);
	} else {
		value = describe(t, "cancelled", "cancelled as asked");
	}
	return value;
}

static void
answer_waiters(struct task *t)
{
	struct waiter *next;

	for (struct waiter *w = t->waiters; w != NULL; w = next) {
		const struct origin *o = &w->pending.origin;
		json_t *result = w->reads ? json_copy(t->end) : json_object();

		next = w->next;
		client_end(&w->pending, jsonrpc_result(o->id, method_end(o->era, result, NULL)));
		free(w);
	}
}

/* What was not kept has failed for whoever asks from now on. */
static void
on_kept(void *self, bool is_kept)
{
	struct task *t = self;

	if (!is_kept) {
		json_decref(t->end);
		t->end = say_lost(describe(t, "failed", NULL));
	}
	tell_change(&t->account, t->id, t->end);
	answer_waiters(t);
	task_free(t);
}

static void
on_answer(struct client *client, struct exchange *none, const json_t *message)
{
	struct task *t = task_of(client);

	(void)none;
	t->end = describe_end(t, message);
	json_object_clear(t->inputs);
	if (ending)
		on_kept(t, true); /* as what has no end on the disk: failed */
	else
		promise_keep(t->owner, t->id, t->end, on_kept, t);
}

static void
ignore(struct client *client, struct exchange *none, const json_t *message)
{
	(void)client;
	(void)none;
	(void)message;
}

static bool
is_slow(const struct client *client, const struct exchange *none)
{
	(void)client;
	(void)none;
	return true;
}

static const struct transport by_task = { .send = ignore, .answer = on_answer, .slow = is_slow };

void
task_close(void)
{
	struct task *next;

	ending = true;
	for (struct task *t = tasks; t != NULL; t = next) {
		next = t->next;
		client_give_up(&t->client, false);
	}
}

/* ---- the beginning ---- */

static bool
has_room(const char *owner)
{
	size_t count;
	uint64_t bytes;

	if (swept_ms == 0 || loop_now_ms() - swept_ms > SWEEP_MS) {
		swept_ms = loop_now_ms();
		record_sweep((int64_t)options.task_ttl_ms);
	}
	record_usage(owner, &count, &bytes);
	return count < options.max_tasks && bytes < options.task_bytes;
}

static struct task *
make(const struct account *account)
{
	struct task *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	*t = (struct task){ .fd = -1,
		.principal = strdup(account->principal),
		.namespace = account->namespace == NULL ? NULL : strdup(account->namespace),
		.inputs = json_object() };
	t->account = (struct account){ .principal = t->principal, .namespace = t->namespace };
	t->client = (struct client){ .by = &by_task, .account = &t->account };
	record_owner(account->principal, account->namespace, t->owner);
	record_id(t->id);
	now(t->created);
	memcpy(t->updated, t->created, sizeof t->updated);
	return t;
}

/* It is there before anybody hears of it. */
static int
begin(struct task *t, struct err *e)
{
	json_t *value = describe(t, "working", NULL);

	t->fd = record_begin(t->owner, t->id, value, e);
	json_decref(value);
	return t->fd < 0 ? -1 : 0;
}

struct task *
task_new(const struct account *account, const struct origin *asked, struct origin *to)
{
	struct task *t = kept ? make(account) : NULL;
	struct err e;

	if (t == NULL)
		return NULL;
	if (t->principal == NULL || !has_room(t->owner) || begin(t, &e) < 0) {
		task_free(t);
		return NULL;
	}
	t->next = tasks;
	tasks = t;
	*to = (struct origin){ .client = &t->client, .era = asked->era, .id = json_string(t->id) };
	return t;
}

static struct task *
find_running(const char *owner, const char *id)
{
	for (struct task *t = tasks; t != NULL; t = t->next)
		if (strcmp(t->id, id) == 0 && strcmp(t->owner, owner) == 0)
			return t;
	return NULL;
}

/* Nobody has its id. */
static void
give_up(const char *owner, const char *id)
{
	struct task *t = find_running(owner, id);

	if (t != NULL)
		client_give_up(&t->client, true);
}

void
task_promise(struct client *client, const struct origin *asked)
{
	struct task *t = task_of(client);
	json_t *value = describe(t, "working", NULL);

	json_object_set_new(value, "resultType", json_string("task"));
	promise_make(asked, t->owner, t->id, method_end(era_modern(), value, NULL), give_up);
}

void
task_stop(void)
{
	promise_close();
}

/* ---- finding ---- */

static bool
is_over(const json_t *value)
{
	const char *created = json_string_value(json_object_get(value, "createdAt"));
	struct tm tm = { 0 };

	return created == NULL || strptime(created, "%FT%T", &tm) == NULL ||
	       timegm(&tm) + (int64_t)options.task_ttl_ms / 1000 < time(NULL);
}

/* A new reference; NULL: there is none of that account. */
static json_t *
look_up(const struct account *account, const char *id)
{
	char owner[RECORD_OWNER];
	bool lost;

	record_owner(account->principal, account->namespace, owner);

	struct task *t = find_running(owner, id);

	if (t != NULL)
		return describe_running(t);

	json_t *value = record_read(owner, id, &lost);

	if (value == NULL)
		return NULL;
	if (!is_over(value))
		return lost ? say_lost(value) : value;
	json_decref(value);
	return NULL;
}

bool
task_exists(const struct account *account, const char *id)
{
	json_t *value = look_up(account, id);

	json_decref(value);
	return value != NULL;
}

/* ---- input ---- */

void
task_ask(struct client *client, const char *key, const char *method, json_t *params,
    void (*got)(void *self, const char *key, const json_t *response), void *self)
{
	struct task *t = task_of(client);

	json_object_set_new(
	    t->inputs, key, json_pack("{s:s, s:o*}", "method", method, "params", params));
	t->got = got;
	t->self = self;
	publish(t);
}

/* Only what is waited for; got() may end the task. */
static void
give_inputs(struct task *t, const json_t *responses)
{
	char owner[RECORD_OWNER], id[RECORD_ID];
	const char *key;
	json_t *response;
	void *next;

	memcpy(owner, t->owner, sizeof owner);
	memcpy(id, t->id, sizeof id);
	json_object_foreach_safe((json_t *)(uintptr_t)responses, next, key, response)
	{
		if (json_object_get(t->inputs, key) == NULL || !json_is_object(response))
			continue;
		json_object_del(t->inputs, key);
		t->got(t->self, key, response);
		if ((t = find_running(owner, id)) == NULL)
			return;
	}
	publish(t);
}

/* ---- methods ---- */

static struct task *
running(const struct request *r)
{
	const struct account *account = r->origin.client->account;
	char owner[RECORD_OWNER];

	record_owner(account->principal, account->namespace, owner);
	return find_running(owner, json_string_value(json_object_get(r->params, "taskId")));
}

/* It is answered soon. */
static void
on_cancel(struct pending *unused)
{
	(void)unused;
}

/* Is the request about a task whose end is being kept?  Then it is answered when that is. */
static bool
waits_for_end(const struct request *r, bool reads)
{
	struct task *t = running(r);
	struct waiter *w = NULL;

	if (t != NULL && t->end != NULL && t->nwaiters < MAX_WAITERS)
		w = calloc(1, sizeof *w);
	if (w == NULL)
		return false;
	*w = (struct waiter){ .next = t->waiters, .reads = reads };
	t->waiters = w;
	t->nwaiters++;
	client_begin(&w->pending, &r->origin, on_cancel);
	return true;
}

/* What is told of the task that the request names; NULL with *refusal. */
static json_t *
read_task(const struct request *r, json_t **refusal)
{
	const char *id;
	json_t *value;

	if (!method_declared(r, "extensions", ERA_META "tasks")) {
		*refusal = method_lacks(r, task_capability());
		return NULL;
	}
	id = method_text(r, "taskId", refusal);
	value = id == NULL ? NULL : look_up(r->origin.client->account, id);
	if (value == NULL && *refusal == NULL)
		*refusal = method_refuse(r, "taskId: there is no such task, or it has expired");
	return value;
}

json_t *
handle_tasks_get(const struct request *r)
{
	json_t *refusal = NULL, *value = read_task(r, &refusal);

	if (value == NULL)
		return refusal;
	if (!waits_for_end(r, true))
		return method_complete(r, value);
	json_decref(value);
	return NULL;
}

json_t *
handle_tasks_update(const struct request *r)
{
	json_t *responses = json_object_get(r->params, "inputResponses");
	json_t *refusal = NULL, *value = read_task(r, &refusal);

	json_decref(value);
	if (value == NULL)
		return refusal;
	if (!json_is_object(responses))
		return method_refuse(r, "inputResponses must be an object");

	struct task *t = running(r);

	if (t != NULL)
		give_inputs(t, responses);
	return method_complete(r, json_object());
}

json_t *
handle_tasks_cancel(const struct request *r)
{
	json_t *refusal = NULL, *value = read_task(r, &refusal);

	json_decref(value);
	if (value == NULL)
		return refusal;

	struct task *t = running(r);

	if (t != NULL)
		client_give_up(&t->client, true);
	return waits_for_end(r, false) ? NULL : method_complete(r, json_object());
}
