/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.c - tasks that run here, and reports on all tasks.
 *
 * Theory of operation.  The request does not know its task.  It was adopted (bus.h), so its reply
 * arrives here, encoded, and is stored unchanged; a gateway decodes it when it is fetched.  Until
 * the end is on the disk the task counts as running, and requests for its outcome wait.
 */
#include "executor/kept/task.h"

#include "executor/kept/change.h"
#include "executor/kept/task_file.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/base/work.h"
#include "common/daemon/daemon.h"

#include <stdio.h>
#include <string.h>

enum {
	SWEEP_MS = 600000,
	MAX_WAITERS = 64,
	ID = 5 + 64 + 1 + TASK_FILE_ID,
};

static const char prefix[] = "task_";

/* A request about a task whose end is being stored; it is answered after that. */
struct waiter {
	struct waiter *next;
	struct call *call;
};

struct task {
	struct task *next;
	struct call *run; /* the request; NULL: it has ended */
	enum msg_id message;
	struct owner owner;
	char name[TASK_FILE_ID], id[ID];
	char created[TIMESTAMP_TEXT], updated[TIMESTAMP_TEXT];
	int fd; /* held until the end is stored */
	bool ended, stored;
	struct waiter *waiters;
	size_t nwaiters;
};

static struct task *tasks;
static int64_t swept_ms;
static bool open_for_tasks, ending;

void
task_open(int state)
{
	task_file_open(state);
	open_for_tasks = state >= 0;
}

static void
now(char text[TIMESTAMP_TEXT])
{
	timestamp_text(timestamp_now(), 3, text);
}

/* ---- ids ---- */

/* The part of an id that names the file; "": the id is not one of this executor. */
static const char *
name_of(const char *id)
{
	size_t size = strlen(daemon_instance());

	if (strncmp(id, prefix, sizeof prefix - 1) != 0)
		return "";
	id += sizeof prefix - 1;
	return strncmp(id, daemon_instance(), size) == 0 && id[size] == '_' ? id + size + 1 : "";
}

static struct task *
find(const struct call *call, const char *id)
{
	struct task *t = tasks;

	while (t != NULL && (strcmp(t->id, id) != 0 || !owner_equal(&t->owner, &call->owner)))
		t = t->next;
	return t;
}

/* ---- as a message, and as bytes of a file ---- */

static struct task_report
report(const struct task *t, enum task_state state)
{
	struct task_report r = { .task_id = strdup(t->id),
		.state = (int)state,
		.created_at = strdup(t->created),
		.updated_at = strdup(t->updated),
		.ttl_ms = options.task_ttl_ms,
		.message = strdup(messages[t->message].name) };

	must(
	    r.task_id != NULL && r.created_at != NULL && r.updated_at != NULL && r.message != NULL);
	return r;
}

static struct blob
take_blob(struct blob *from)
{
	struct blob got = *from;

	*from = (struct blob){ 0 };
	return got;
}

/* Takes the parts of the reply. */
static void
add_reply(struct task_report *r, struct packed *reply)
{
	r->reply = take_blob(&reply->body);
	for (size_t i = 0; i < reply->count; i++) {
		struct task_part *part = list_add(&r->parts, sizeof *part);

		must(part != NULL);
		part->data = take_blob(&reply->blobs[i]);
	}
}

static void
add_failure(struct task_report *r, const struct err *e)
{
	r->failure = calloc(1, sizeof *r->failure);
	must(r->failure != NULL);
	*r->failure = (struct failure){ .code = strdup(err_name(e->code)),
		.text = strdup(e->text),
		.retry_ms = (uint64_t)e->retry_ms };
	must(r->failure->code != NULL && r->failure->text != NULL);
}

/* Encodes the report, and frees its contents in any case. */
static int
encode(struct task_report *r, struct blob *bytes, struct err *e)
{
	struct packed packed = { 0 };
	int failed = wire_encode(MSG_task_report, r, &packed, e);

	if (failed == 0)
		failed = wire_flatten(&packed, bytes, e);
	packed_clear(&packed);
	message_clear(MSG_task_report, r);
	return failed;
}

/* Encodes the beginning, whose size is known. */
static int
encode_beginning(const struct task *t, struct blob *bytes, struct err *e)
{
	struct task_report r = report(t, task_state_working);

	return encode(&r, bytes, e);
}

static int
decode(const struct blob *bytes, struct task_report *r, struct err *e)
{
	struct packed packed = { 0 };
	int failed = wire_raise(bytes, &packed, e);

	if (failed == 0)
		failed = wire_decode(MSG_task_report, &packed, r, e);
	packed_clear(&packed);
	return failed;
}

static void
say_lost(struct task_report *r)
{
	struct err e;

	err_set(&e, ERR_internal, "the executor exited during this call; call again");
	r->state = task_state_failed;
	add_failure(r, &e);
}

/* Reads what is on the disk. */
static int
read_stored(struct call *call, const char *id, struct task_report *r, struct err *e)
{
	struct blob bytes = { 0 };
	bool lost;

	if (task_file_read(
		&call->owner, name_of(id), (int64_t)options.task_ttl_ms, &bytes, &lost, e) < 0)
		return -1;

	int failed = decode(&bytes, r, e);

	blob_clear(&bytes);
	if (failed == 0 && lost)
		say_lost(r);
	return failed;
}

static void
answer(struct call *call, struct task_report *r)
{
	call_reply(call, r);
	message_clear(MSG_task_report, r);
}

/* ---- the end ---- */

static void
drop(struct task *t)
{
	struct task **at = &tasks;

	while (*at != NULL && *at != t)
		at = &(*at)->next;
	if (*at != NULL)
		*at = t->next;
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

/* Answers a call about the task once its end is stored: with a report, or with success. */
static void
answer_waiter(struct waiter *w, const struct task *t)
{
	struct task_report r = { 0 };
	struct nothing done = { .ok = true };
	struct err e;

	if (w->call->message == MSG_cancel_task)
		call_reply(w->call, &done);
	else if (read_stored(w->call, t->id, &r, &e) == 0)
		answer(w->call, &r);
	else
		call_fail(w->call, &e);
}

static void
drop_if_over(struct task *t)
{
	struct waiter *next;

	if (!t->stored || t->run != NULL)
		return;
	for (struct waiter *w = t->waiters; w != NULL; w = next) {
		next = w->next;
		answer_waiter(w, t);
		free(w);
	}
	drop(t);
}

struct ending {
	struct work work;
	struct task *task;
	struct owner owner;
	char name[TASK_FILE_ID];
	struct blob bytes;
	bool failed;
	struct err error;
};

static void
store(struct work *work)
{
	struct ending *it = (struct ending *)work;

	it->failed = task_file_end(&it->owner, it->name, &it->bytes, &it->error) < 0;
}

/* A task whose end could not be stored has failed. */
static void
on_stored(struct work *work)
{
	struct ending *it = (struct ending *)work;
	struct task *t = it->task;

	if (it->failed)
		log_error(
		    "the result of a task was not stored", LOG_S("task", t->id), LOG_E(&it->error));
	t->stored = true;
	close(take_fd(&t->fd));
	change_add(&t->owner, subject_task, t->id);
	blob_clear(&it->bytes);
	free(it);
	drop_if_over(t);
}

/* Ends the task; takes the contents of the report. */
static void
finish(struct task *t, struct task_report *r)
{
	struct ending *it = calloc(1, sizeof *it);

	must(it != NULL);
	*it = (struct ending){ .work = { .run = store, .done = on_stored }, .task = t };
	it->owner = t->owner;
	memcpy(it->name, t->name, sizeof it->name);
	if (encode(r, &it->bytes, &it->error) < 0) {
		it->failed = true;
		on_stored(&it->work);
		return;
	}
	work_do(&it->work);
}

/* The outcome of the request; content NULL: it failed. */
static void
on_ended(void *self, struct packed *content, const struct err *e)
{
	struct task *t = self;

	t->run = NULL;
	if (ending)
		return;
	if (t->ended) {
		drop_if_over(t);
		return;
	}
	t->ended = true;
	now(t->updated);

	struct task_report r = report(t, task_state_completed);

	if (content != NULL)
		add_reply(&r, content);
	else
		add_failure(&r, e);
	finish(t, &r);
}

static void
cancel(struct task *t)
{
	t->ended = true;
	now(t->updated);

	struct task_report r = report(t, task_state_cancelled);

	call_stop(t->run);
	finish(t, &r);
}

/* Tasks without an end on the disk count as failed. */
void
task_close(void)
{
	ending = true;
}

/* ---- the beginning ---- */

static int
check_room(const struct owner *owner, struct err *e)
{
	size_t count;
	uint64_t bytes;

	if (!open_for_tasks)
		return err_set(
		    e, ERR_unavailable, "the executor could not open its directory for tasks");
	if (swept_ms == 0 || loop_now_ms() - swept_ms > SWEEP_MS) {
		swept_ms = loop_now_ms();
		task_file_sweep((int64_t)options.task_ttl_ms);
	}
	task_file_usage(owner, &count, &bytes);
	if (count < options.max_tasks && bytes < options.task_bytes)
		return 0;
	return err_set(e, ERR_limit_exceeded,
	    "%zu tasks with %llu bytes are kept, which is the limit", count,
	    (unsigned long long)bytes);
}

static struct task *
make(const struct call *call, enum msg_id message)
{
	struct task *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	*t = (struct task){ .fd = -1, .message = message, .owner = call->owner };
	hash_random_hex(t->name, sizeof t->name);
	snprintf(t->id, sizeof t->id, "%s%s_%s", prefix, daemon_instance(), t->name);
	now(t->created);
	memcpy(t->updated, t->created, sizeof t->updated);
	return t;
}

static int
begin(struct task *t, struct err *e)
{
	struct blob bytes = { 0 };

	if (encode_beginning(t, &bytes, e) < 0)
		return -1;
	t->fd = task_file_begin(&t->owner, t->name, &bytes, e);
	blob_clear(&bytes);
	return t->fd < 0 ? -1 : 0;
}

struct beginning {
	struct work work;
	struct call *call; /* the keep_task call */
	uint64_t request;
	struct task *task;
	struct owner owner;
	char name[TASK_FILE_ID];
	bool failed;
	struct err error;
};

static void
sync_it(struct work *work)
{
	struct beginning *it = (struct beginning *)work;

	it->failed = task_file_sync(&it->owner, it->name, &it->error) < 0;
}

/* Finds only a request of the same owner, and of a kind that can become a task. */
static struct call *
find_request(const struct call *call, uint64_t id)
{
	struct call *run = call_beside(call, id);

	if (run == NULL || (messages[run->message].hints & LONG) == 0 ||
	    !owner_equal(&run->owner, &call->owner))
		return NULL;
	return run;
}

static int
say_gone(struct err *e)
{
	return err_set(e, ERR_not_found, "request: no such request is running");
}

/* The request may have ended meanwhile; then the task is not needed. */
static void
on_synced(struct work *work)
{
	auto_free struct beginning *it = (struct beginning *)work;
	struct task *t = it->task;
	struct call *run = it->failed ? NULL : find_request(it->call, it->request);

	if (run == NULL) {
		if (!it->failed)
			say_gone(&it->error);
		task_file_drop(&t->owner, t->name);
		drop(t);
		call_fail(it->call, &it->error);
		return;
	}

	struct task_report r = report(t, task_state_working);

	t->run = run;
	t->next = tasks;
	tasks = t;
	call_adopt(run, on_ended, t);
	answer(it->call, &r);
}

int
task_on_keep_task(struct call *call, void *request, struct err *e)
{
	const struct keep_task *ask = request;
	const struct call *run = find_request(call, ask->request);

	if (run == NULL)
		return say_gone(e);
	if (check_room(&call->owner, e) < 0)
		return -1;

	struct task *t = make(call, run->message);
	struct beginning *it = calloc(1, sizeof *it);

	if (t == NULL || it == NULL || begin(t, e) < 0) {
		if (t != NULL)
			drop(t);
		free(it);
		return err_add(e, "make a task");
	}
	*it = (struct beginning){ .work = { .run = sync_it, .done = on_synced },
		.call = call,
		.request = ask->request,
		.task = t };
	it->owner = t->owner;
	memcpy(it->name, t->name, sizeof it->name);
	work_do(&it->work);
	return 0;
}

/* ---- asking ---- */

/* Waits until the end of the task is stored. */
static int
wait_for_end(struct task *t, struct call *call, struct err *e)
{
	struct waiter *w = t->nwaiters < MAX_WAITERS ? calloc(1, sizeof *w) : NULL;

	if (w == NULL)
		return err_set(e, ERR_queue_full,
		    "%zu requests wait for this task already, which is the limit", t->nwaiters);
	*w = (struct waiter){ .next = t->waiters, .call = call };
	t->waiters = w;
	t->nwaiters++;
	return 0;
}

int
task_on_get_task(struct call *call, void *request, struct err *e)
{
	const struct get_task *ask = request;
	struct task *t = find(call, ask->task_id);
	struct task_report r = { 0 };

	if (t != NULL && t->ended && !t->stored)
		return wait_for_end(t, call, e);
	if (t != NULL && !t->ended)
		r = report(t, task_state_working);
	else if (read_stored(call, ask->task_id, &r, e) < 0)
		return -1;
	answer(call, &r);
	return 0;
}

int
task_on_cancel_task(struct call *call, void *request, struct err *e)
{
	const struct cancel_task *ask = request;
	struct task *t = find(call, ask->task_id);
	struct task_report r = { 0 };
	struct nothing done = { .ok = true };

	if (t == NULL && read_stored(call, ask->task_id, &r, e) < 0)
		return -1;
	message_clear(MSG_task_report, &r);
	if (t != NULL && !t->stored && wait_for_end(t, call, e) < 0)
		return -1;
	if (t != NULL && !t->ended)
		cancel(t);
	else if (t == NULL || t->stored)
		call_reply(call, &done);
	return 0;
}
