/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approval.c - asks the client's user in the words of the stored request.
 *
 * Trusts the client to pass on what its user chose, as elicit.h says, and no argument: a model
 * wrote them.  The question has the id of the request as its key.  So an answer counts for the
 * request that was shown, and for no later one, also if the client sends it again.
 */
#include "gateway/mcp/approval.h"

#include "gateway/compat/compat.h"
#include "gateway/mcp/elicit.h"
#include "gateway/mcp/inquire.h"
#include "gateway/mcp/result.h"
#include "gateway/mcp/tools.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"

#include <stdio.h>
#include <string.h>

/* ---- results ---- */

static json_t *
message_of(const struct request *r, json_t *result)
{
	return result == NULL ? jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory")
	                      : jsonrpc_result(r->origin.id, result);
}

static enum msg_id
tool_of(const struct request *r)
{
	return tools_find(json_string_value(json_object_get(r->params, "name")));
}

/* The call in the form of a replaced system, if one is chosen; it was accepted before. */
static struct compat_call *
reopen(const struct request *r)
{
	struct compat_call *compat = NULL;
	json_t *refusal = NULL;

	if (compat_on() && compat_open(r, json_string_value(json_object_get(r->params, "name")),
			       json_object_get(r->params, "arguments"), &compat, &refusal))
		json_decref(refusal);
	return compat;
}

static json_t *
say_error(const struct request *r, const struct err *e)
{
	auto_compat struct compat_call *compat = reopen(r);

	return message_of(r, compat != NULL ? compat_error(compat, r->origin.revision, e)
					    : result_of_error(r->origin.revision, e));
}

/* Takes the contents of the reply that result_of_reply() takes. */
static json_t *
say_reply(const struct request *r, struct approval_report *a)
{
	auto_compat struct compat_call *compat = reopen(r);

	if (compat != NULL)
		return message_of(r, compat_result(compat, r->origin.revision,
					 result_render(compat->offer->ours, a)));
	return message_of(
	    r, result_of_reply(r->origin.revision, r->origin.client->account, tool_of(r), a));
}

/* The systems that are replaced return "approved": false where ours is an error. */
static json_t *
say_no(const struct request *r, struct approval_report *a, enum err_code code, const char *text)
{
	char *note = a->note;
	struct err e;

	err_set(&e, code, "%s", text);
	if (!compat_on())
		return say_error(r, &e);
	a->note = e.text;

	json_t *answer = say_reply(r, a);

	a->note = note;
	return answer;
}

static json_t *
conclude(const struct request *r, struct approval_report *a)
{
	char text[240];

	if (a->state == approval_state_pending)
		return say_no(r, a, ERR_approval_required, a->note);
	if (a->approved)
		return say_reply(r, a);
	snprintf(text, sizeof text, "request %s for %.100s is %s", a->request_id, a->subject,
	    word_text(SET_approval_state, a->state));
	return say_no(r, a, ERR_approval_denied, text);
}

/* ---- the answer of the client's user ---- */

static json_t *
on_answered(const struct request *r, void *reply, const struct err *e)
{
	return reply == NULL ? say_error(r, e) : conclude(r, reply);
}

/* The text of a member of the form, or NULL. */
static const char *
text_in(const json_t *content, const char *name)
{
	const char *text = json_string_value(json_object_get(content, name));

	return text == NULL || *text == '\0' ? NULL : text;
}

static json_t *
pass_on(const struct request *r, const struct approval_report *a, const json_t *content)
{
	const char *chosen = text_in(content, "decision"), *until = text_in(content, "until");
	int duration =
	    chosen == NULL ? -1 : word_parse(SET_approval_duration, chosen, strlen(chosen));
	struct approval_answer answer = {
		.request_id = a->request_id,
		.subject = a->subject,
		.verdict = duration < 0 ? approval_verdict_deny : approval_verdict_approve,
		.duration = duration < 0 ? 0 : duration,
		.until = duration == approval_duration_namespace ? (char *)(uintptr_t)until : NULL,
		.channel = approval_channel_elicitation,
	};

	return inquire(r,
	    (struct ask){ .to = messages[tool_of(r)].server,
		.message = MSG_approval_answer,
		.request = &answer },
	    on_answered);
}

/* ---- the question ---- */

static json_t *
form(const struct approval_report *a)
{
	json_t *choices = json_pack("[s, s]", "deny", "once");

	if (a->session_id != NULL)
		json_array_append_new(choices, json_string("session"));
	json_array_append_new(choices, json_string("namespace"));
	return elicit_form(a->question,
	    json_pack("{s:s, s:{s:{s:s, s:s, s:s, s:o}, s:{s:s, s:s, s:s, s:s}}, s:[s]}", "type",
		"object", "properties", "decision", "type", "string", "title", "Decision",
		"description", "deny, or allow it for one run, this session, or this namespace",
		"enum", choices, "until", "type", "string", "format", "date", "title", "Last day",
		"description", "Of a decision for the namespace; tomorrow if empty", "required",
		"decision"));
}

/* Nobody answered, neither here nor elsewhere. */
static json_t *
say_late(const struct request *r)
{
	struct err e;

	err_set(&e, ERR_approval_denied,
	    "nobody answered the question in time (approval_timeout_s), which is a denial");
	return say_error(r, &e);
}

/* A user who closes the question has not answered; another person still can. */
static bool
was_dismissed(const struct request *r, const char *key)
{
	const char *action = json_string_value(json_object_get(elicit_result(r, key), "action"));

	return action != NULL && strcmp(action, "cancel") == 0;
}

static json_t *
on_asked(const struct request *r, void *reply, const struct err *e)
{
	struct approval_report *a = reply;
	json_t *answer = NULL;
	char key[64];

	if (a == NULL)
		return say_error(r, e);
	if (a->question == NULL || !method_declared(r, "elicitation", NULL))
		return conclude(r, a);
	snprintf(key, sizeof key, "approval_%s", a->request_id);

	const struct question q = { key, "elicitation/create", form(a) };
	const struct patience patience = { a->wait_ms, say_late };

	if (!elicit_shown(r, &q, &patience, &answer))
		return answer;
	return was_dismissed(r, key) ? conclude(r, a) : pass_on(r, a, elicit_content(r, key));
}

json_t *
approval_call(const struct request *r, enum msg_id tool, const json_t *arguments)
{
	auto_free void *request = calloc(1, messages[tool].size);
	json_t *none = json_object(), *answer;
	struct err e;

	must(request != NULL && messages[tool].reply == MSG_approval_report);
	if (jschema_read(tool, arguments != NULL ? arguments : none, request, &e) < 0)
		answer = say_error(r, &e);
	else
		answer = inquire(r,
		    (struct ask){
			.to = messages[tool].server, .message = tool, .request = request },
		    on_asked);
	message_clear(tool, request);
	json_decref(none);
	return answer;
}
