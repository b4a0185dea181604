/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - converts a report to JSON.  The reply in it was written by hostile programs, and is
 * decoded as strictly as one that arrives on the bus. */
#include "gateway/task/report.h"

#include "gateway/mcp/links.h"
#include "gateway/mcp/result.h"
#include "gateway/rpc/jsonrpc.h"

#include "common/base/auto.h"
#include "common/codec/wire.h"

enum {
	POLL_MS = 1000,
};

static json_t *
describe(const struct task_report *r, const char *text)
{
	return json_pack("{s:s, s:s, s:s*, s:s, s:s, s:I, s:i}", "taskId", r->task_id, "status",
	    word_text(SET_task_state, r->state), "statusMessage", text, "createdAt", r->created_at,
	    "lastUpdatedAt", r->updated_at, "ttlMs", (json_int_t)r->ttl_ms, "pollIntervalMs",
	    POLL_MS);
}

/* Takes the frames. */
static int
decode(struct task_report *r, enum msg_id message, void *reply, struct err *e)
{
	struct packed packed = { .body = r->reply, .count = r->parts.count };

	r->reply = (struct blob){ 0 };
	packed.blobs = calloc(packed.count + 1, sizeof *packed.blobs);
	must(packed.blobs != NULL);
	for (size_t i = 0; i < packed.count; i++) {
		packed.blobs[i] = r->parts.items[i].data;
		r->parts.items[i].data = (struct blob){ 0 };
	}

	int failed = wire_decode(message, &packed, reply, e);

	packed_clear(&packed);
	return failed;
}

static json_t *
result_of(const struct origin *to, const struct account *who, struct task_report *r)
{
	enum msg_id tool = message_find(r->message), message = messages[tool].reply;
	auto_free void *reply = calloc(1, messages[message].size + 1);
	json_t *result;
	struct err e;

	must(reply != NULL);
	if (tool == MSG_none || messages[tool].title == NULL)
		err_set(&e, ERR_internal, "this server does not know the task's tool");
	else if (decode(r, message, reply, &e) == 0)
		e.code = ERR_none;
	if (e.code != ERR_none)
		return result_of_error(to->revision, &e);
	if (to->client != NULL)
		links_fill(to, message, reply);
	result = result_of_reply(to->revision, who, tool, reply);
	message_clear(message, reply);
	return result;
}

/* An error of a daemon in place of a reply is a result of the tool, too. */
static json_t *
result_of_failure(const struct origin *to, const struct failure *f)
{
	struct err e;

	err_set(&e, err_parse(f->code), "%s", f->text);
	e.retry_ms = (int)f->retry_ms;
	return result_of_error(to->revision, &e);
}

json_t *
report_task(const struct origin *to, const struct account *who, struct task_report *r)
{
	const char *why = r->failure != NULL ? r->failure->text : "the task failed";
	json_t *value;

	switch (r->state) {
	case task_state_completed:
		value = describe(r, NULL);
		json_object_set_new(value, "result",
		    r->failure != NULL ? result_of_failure(to, r->failure) : result_of(to, who, r));
		return value;
	case task_state_failed:
		value = describe(r, why);
		json_object_set_new(
		    value, "error", json_pack("{s:i, s:s}", "code", RPC_INTERNAL, "message", why));
		return value;
	case task_state_cancelled:
		return describe(r, "cancelled by request");
	default:
		return describe(r, NULL);
	}
}
