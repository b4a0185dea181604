/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - a list of jobs.  Each is the one client, and the one exchange, of a transport whose
 * reader comes later.
 *
 * Answers have the output of hostile programs in them, so their number, size and age are bounded:
 * the oldest answers of a principal make room for its newer ones, never those of others.
 */
#include "gateway/compat/job.h"

#include "gateway/mcp/dispatch.h"
#include "gateway/transport/http/request.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/loop.h"

#include <string.h>

enum {
	MOST_JOBS = 100,       /* of a principal */
	MOST_BYTES = 64 << 20, /* of all answers */
	KEPT_MS = 3600 * 1000,
};

struct exchange {
	struct exchange *next;
	struct client client;
	struct operation operation;
	char *tenant;
	json_t *answer;  /* a text of JSON, or the object of a failure; NULL: none, or none kept */
	json_t *refusal; /* the message, if it came while the job began */
	size_t bytes;    /* of the text */
	uint64_t timer;  /* until it is forgotten */
	char id[JOB_ID];
	bool began, ended, failed;
};

static struct exchange *newest;
static size_t used;

/* ---- a tool's text ---- */

/* {"success": false, "error": text, "code", "hint"}, as compat_error() writes it. */
static bool
is_problem(const json_t *value)
{
	return json_is_string(json_object_get(value, "error")) &&
	       json_is_string(json_object_get(value, "code"));
}

json_t *
job_value(const json_t *text)
{
	return json_loadb(json_string_value(text), json_string_length(text),
	    JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

json_t *
job_problem(const json_t *text)
{
	json_t *value = json_string_length(text) > JOB_PROBLEM ? NULL : job_value(text);

	if (is_problem(value))
		return value;
	json_decref(value);
	return NULL;
}

/* ---- which there are ---- */

static bool
is_of(const struct exchange *job, const struct account *account, const char *tenant)
{
	return job->client.account == account &&
	       (tenant == NULL || strcmp(job->tenant, tenant) == 0);
}

static void
drop(struct exchange *job)
{
	struct exchange **at = &newest;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	loop_unset(job->timer);
	used -= job->bytes;
	client_close(&job->client);
	account_release(job->client.account);
	json_decref(job->answer);
	json_decref(job->refusal);
	free(job->tenant);
	free(job);
}

static void
on_old(void *self)
{
	struct exchange *job = self;

	job->timer = 0;
	drop(job);
}

/* The oldest of them that has ended, and has an answer or not; NULL: none. */
static struct exchange *
oldest_of(const struct account *account, bool answered)
{
	struct exchange *oldest = NULL;

	for (struct exchange *job = newest; job != NULL; job = job->next)
		if (is_of(job, account, NULL) && job->ended && (!answered || job->bytes > 0))
			oldest = job;
	return oldest;
}

static size_t
count_of(const struct account *account)
{
	size_t n = 0;

	for (const struct exchange *job = newest; job != NULL; job = job->next)
		n += is_of(job, account, NULL);
	return n;
}

static size_t
bytes_of(const struct account *account)
{
	size_t n = 0;

	for (const struct exchange *job = newest; job != NULL; job = job->next)
		n += is_of(job, account, NULL) ? job->bytes : 0;
	return n;
}

/* ---- the transport ---- */

static void
fail(struct exchange *job, json_t *answer)
{
	json_decref(job->answer);
	job->answer = answer;
	used -= job->bytes;
	job->bytes = 0;
	job->failed = true;
}

static json_t *
no_room(void)
{
	return json_pack(
	    "{s:s}", "error", "the result is not kept: there is no room beside others");
}

/* Takes from older answers of the same principal what is missing. */
static bool
make_room(const struct exchange *job, size_t bytes)
{
	const struct account *account = job->client.account;
	struct exchange *old;

	while (bytes > account_room(bytes_of(account), MOST_BYTES, used)) {
		old = oldest_of(account, true);
		if (old == NULL)
			return false;
		fail(old, no_room());
	}
	return true;
}

static const json_t *
text_in(const json_t *message)
{
	const json_t *content = json_object_get(json_object_get(message, "result"), "content");

	return json_object_get(json_array_get(content, 0), "text");
}

/* What went wrong with the call, which is not what went wrong in the program; NULL: nothing. */
static json_t *
failure_in(const json_t *message)
{
	const json_t *error = json_object_get(json_object_get(message, "error"), "message");
	const json_t *text = text_in(message);

	if (message == NULL)
		return json_pack("{s:s}", "error", "the run was cancelled");
	if (error != NULL)
		return json_pack("{s:O}", "error", error);
	if (json_is_true(json_object_get(json_object_get(message, "result"), "isError")))
		return json_pack("{s:O}", "error", text);
	return job_problem(text);
}

static void
on_answer(struct client *client, struct exchange *job, const json_t *message)
{
	json_t *failure = failure_in(message);
	const json_t *text = text_in(message);
	size_t bytes = json_string_length(text);

	(void)client;
	metrics_count(&job->operation, message);
	job->ended = true;
	job->timer = loop_after(KEPT_MS, on_old, job);
	if (failure == NULL && !make_room(job, bytes))
		failure = no_room();
	if (failure != NULL) {
		fail(job, failure);
		if (!job->began)
			job->refusal = json_incref((json_t *)(uintptr_t)message);
		return;
	}
	job->answer = json_incref((json_t *)(uintptr_t)text);
	job->bytes = bytes;
	used += bytes;
}

/* Nobody listens for progress. */
static void
send_nothing(struct client *client, struct exchange *job, const json_t *message)
{
	(void)client;
	(void)job;
	(void)message;
}

static bool
is_slow(const struct client *client, const struct exchange *job)
{
	(void)client;
	(void)job;
	return true;
}

static const struct transport job_transport = {
	.send = send_nothing,
	.answer = on_answer,
	.slow = is_slow,
};

/* ---- what a request asks ---- */

static struct exchange *
make(const struct http_request *r, const char *tenant, const struct operation *operation)
{
	struct exchange *job = calloc(1, sizeof *job);

	must(job != NULL);
	*job = (struct exchange){ .next = newest,
		.client = { .by = &job_transport,
		    .account = account_share(r->account),
		    .scopes = r->identity.scopes },
		.operation = *operation,
		.tenant = strdup(tenant) };
	must(job->tenant != NULL);
	hash_random_hex(job->id, sizeof job->id);
	newest = job;
	return job;
}

json_t *
job_begin(const struct http_request *r, const char *tenant, json_t *message,
    const struct operation *operation, char id[JOB_ID], struct err *e)
{
	struct exchange *job, *old = NULL;
	json_t *refusal = NULL;

	e->code = ERR_none;
	if (count_of(r->account) >= MOST_JOBS)
		old = oldest_of(r->account, false);
	if (old == NULL && count_of(r->account) >= MOST_JOBS) {
		err_set(e, ERR_queue_full, "%d jobs run, the limit", MOST_JOBS);
		return NULL;
	}
	if (old != NULL)
		drop(old);
	job = make(r, tenant, operation);
	memcpy(id, job->id, JOB_ID);
	dispatch_message(&job->client, job, message, r->size);
	job->began = true;
	refusal = take_ptr(job->refusal);
	if (refusal != NULL)
		drop(job);
	return refusal;
}

static json_t *
result_of(const struct exchange *job)
{
	json_t *value;

	if (!json_is_string(job->answer))
		return job->answer != NULL ? json_incref(job->answer) : json_null();
	value = job_value(job->answer);
	return value != NULL ? value : json_null();
}

static const char *
word_of(const struct exchange *job)
{
	if (!job->ended)
		return "running";
	return job->failed ? "failed" : "completed";
}

json_t *
job_status(const struct http_request *r, const char *tenant, const char *id)
{
	for (const struct exchange *job = newest; job != NULL; job = job->next)
		if (is_of(job, r->account, tenant) && strcmp(job->id, id) == 0)
			return json_pack("{s:s, s:s, s:o}", "job_id", job->id, "status",
			    word_of(job), "result", result_of(job));
	return NULL;
}

json_t *
job_list(const struct http_request *r, const char *tenant)
{
	json_t *jobs = json_array();
	json_int_t running = 0;

	for (const struct exchange *job = newest; job != NULL; job = job->next)
		if (is_of(job, r->account, tenant)) {
			json_array_insert_new(jobs, 0,
			    json_pack("{s:s, s:s}", "job_id", job->id, "status", word_of(job)));
			running += !job->ended;
		}
	return json_pack("{s:o, s:I, s:I, s:i}", "jobs", jobs, "total",
	    (json_int_t)json_array_size(jobs), "running", running, "queued", 0);
}

void
job_drain(void)
{
	for (struct exchange *job = newest; job != NULL; job = job->next)
		if (!job->ended)
			client_give_up(&job->client, true);
}

void
job_close(void)
{
	while (newest != NULL)
		drop(newest);
}
