/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toolcall.c - the provider of the tools of schema.def.
 *
 * schema.def defines each tool and the daemon that serves it.  Before a call that destroys data
 * for good, the user may have to be asked.  That is decided here, and only the user's own yes lets
 * the call proceed.
 */
#include "gateway/mcp/toolcall.h"

#include "gateway/mcp/approval.h"
#include "gateway/mcp/elicit.h"
#include "gateway/mcp/input.h"
#include "gateway/mcp/inquire.h"

#include "common/base/loop.h"
#include "common/credential/scope.h"
#include "common/rights/rights.h"
#include "gateway/compat/compat.h"
#include "gateway/mcp/calls.h"
#include "gateway/mcp/result.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/codec/large.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool call(const struct request *, const char *name, json_t **answer);

static bool
permitted(const struct client *client, const struct rights *rights, const char *name)
{
	enum msg_id id = tools_find(name);

	return (scope_of_tool(id) & ~client->scopes) == 0 &&
	       (rights == NULL || rights_allow(&rights->tools, name));
}

/* Those that may be called with the client's scopes and by its policy. */
static json_t *
list(const struct revision *revision, const struct client *client)
{
	json_t *all = tools_list(revision), *some, *tool;
	const struct rights *rights = client == NULL ? NULL : rights_of(&client->account->owner);
	size_t i;

	if (client == NULL || all == NULL ||
	    ((client->scopes & SCOPES_USUAL) == SCOPES_USUAL && rights == NULL))
		return all;
	some = json_array();
	json_array_foreach(all, i, tool)
	{
		if (permitted(client, rights, json_string_value(json_object_get(tool, "name"))))
			json_array_append(some, tool);
	}
	json_decref(all);
	return some;
}

/* ---- consent ---- */

static json_t *
say_error(const struct request *r, const struct err *e)
{
	json_t *result = result_of_error(r->origin.revision, e);

	return result == NULL ? jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory")
	                      : jsonrpc_result(r->origin.id, result);
}

static json_t *
say(const struct request *r, enum err_code code, const char *text)
{
	struct err e;

	err_set(&e, code, "%s", text);
	return say_error(r, &e);
}

/* The question to the user: the tool, and its arguments unchanged, which a model chose. */
static void
question(char text[512], enum msg_id tool, const json_t *arguments)
{
	auto_free char *shown =
	    arguments == NULL ? NULL : large_dump(arguments, JSON_COMPACT | JSON_ENSURE_ASCII);

	snprintf(text, 512, "%s (%s %.300s)? This cannot be undone.", messages[tool].title,
	    messages[tool].name, shown == NULL ? "{}" : shown);
}

/* The executor has recorded the use of the consent or the refusal, so no gateway accepts it
 * again: continue. */
static json_t *
on_spent(const struct request *r, void *reply, const struct err *e)
{
	struct request spent = *r;
	json_t *answer = NULL;

	if (reply == NULL && e->code == ERR_invalid_argument)
		return method_refuse(r, "requestState: %s", e->text);
	if (reply == NULL)
		return result_rpc_error(r->origin.id, e);
	spent.use.id[0] = '\0';
	call(&spent, json_string_value(json_object_get(r->params, "name")), &answer);
	return answer;
}

static json_t *
spend(const struct request *r)
{
	char id[sizeof r->use.id];
	struct spend_consent request = {
		.id = id, .made_ms = (uint64_t)r->use.made_ms, .until_ms = (uint64_t)r->use.until_ms
	};

	memcpy(id, r->use.id, sizeof id);
	return inquire(r,
	    (struct ask){ .to = PEER_executor,
		.home = true,
		.message = MSG_spend_consent,
		.request = &request },
	    on_spent);
}

/* true: continue.  false: *answer is the refusal, or NULL while the question is open. */
static bool
consented(const struct request *r, enum msg_id tool, const json_t *arguments, json_t **answer)
{
	char text[512];
	bool yes = false;

	if (!options.confirm_destructive || (messages[tool].hints & FINAL) == 0)
		return true;
	if (!r->origin.revision->modern && !method_declared(r, "elicitation", NULL)) {
		*answer = say(r, ERR_approval_required,
		    "the user must confirm this, but the client cannot ask: it does not declare "
		    "elicitation");
		return false;
	}
	if (r->use.id[0] != '\0') {
		*answer = spend(r);
		return false;
	}
	question(text, tool, arguments);
	if (!elicit_consent(r, text, &yes, answer))
		return false;
	if (!yes)
		*answer = say(r, ERR_approval_denied, "the user did not confirm it");
	return yes;
}

/* ---- calls ---- */

/* Takes *compat and the bytes of *given; each may be NULL. */
static json_t *
begin(const struct request *r, enum msg_id tool, json_t *arguments, struct compat_call *compat,
    struct given *given)
{
	const struct call_in in = {
		.origin = r->origin,
		.tool = tool,
		.arguments = arguments,
		.compat = compat,
		.given = given,
		.meta = r->meta,
		.bytes = r->bytes,
		.as = CALLS_TOOL,
		.task = compat == NULL && (messages[tool].hints & LONG) != 0 &&
		        r->origin.revision->modern &&
		        method_declared(r, "extensions", REVISION_META "tasks"),
	};

	return calls_begin(&in);
}

/* What the arguments name came: the call goes on with it. */
static json_t *
on_input(const struct request *r, void *reply, const struct err *e)
{
	enum msg_id tool = tools_find(json_string_value(json_object_get(r->params, "name")));
	struct given given = { 0 };
	struct err why;
	json_t *arguments =
	    input_take(tool, json_object_get(r->params, "arguments"), reply, e, &given, &why);
	json_t *answer =
	    arguments == NULL ? say_error(r, &why) : begin(r, tool, arguments, NULL, &given);

	json_decref(arguments);
	blob_clear(&given.bytes);
	return answer;
}

/* -1: denied, or rate_limited with the time to wait. */
static int
check_rights(const struct request *r, const char *name, struct err *e)
{
	struct account *account = r->origin.client->account;
	const struct rights *rights = rights_of(&account->owner);
	int64_t wait_ms;

	if (rights == NULL)
		return 0;
	if (rights_check(rights, &rights->tools, "name", name, e) < 0)
		return -1;
	if (!rights->calls_per_minute.given ||
	    (wait_ms = account_call_wait_ms(
		 account, rights->calls_per_minute.value, loop_now_ms())) == 0)
		return 0;
	err_set(e, ERR_rate_limited, "policy %s allows %" PRIu64 " calls a minute", rights->name,
	    rights->calls_per_minute.value);
	e->retry_ms = (int)wait_ms;
	return -1;
}

static bool
call(const struct request *r, const char *name, json_t **answer)
{
	json_t *arguments = json_object_get(r->params, "arguments");
	enum msg_id tool = tools_find(name);
	auto_compat struct compat_call *compat = NULL;
	struct err e;

	if (tool != MSG_none && check_rights(r, name, &e) < 0) {
		*answer = say_error(r, &e);
		return true;
	}
	if (compat_on() && compat_open(r, name, arguments, &compat, answer))
		return true;
	if (tool == MSG_none)
		return false;
	if ((messages[tool].hints & ASKS_PERSON) != 0) {
		*answer = approval_call(r, tool, compat != NULL ? compat->ours : arguments);
		return true;
	}
	if (!consented(r, tool, arguments, answer))
		return true;
	if (compat == NULL && input_is(tool, arguments)) {
		*answer = input_ask(r, tool, arguments, on_input);
		return true;
	}

	json_t *ours = compat != NULL ? compat->ours : arguments;

	*answer = begin(r, tool, ours, take_ptr(compat), NULL);
	return true;
}

const struct provider toolcall_provider = {
	.lists = { [PROVIDER_tools] = list },
	.requests = { [PROVIDER_call] = call },
};
