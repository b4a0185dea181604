/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.c - methods that are one message to one daemon and no tools, so that no model sees or
 * calls them: secrets of a client that is not at the machine, and answers of an approver over HTTP.
 *
 * `cloister vault` and `cloister egress` do not come here.  The vault has no message that returns a
 * value to the gateway.  A value that such a client adds passes through here; the bus takes it, and
 * no log has it.
 */
#include "gateway/mcp/handlers.h"

#include "gateway/mcp/inquire.h"
#include "gateway/mcp/result.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"
#include "common/credential/scope.h"

#include <stdio.h>
#include <string.h>

/* cloister/vault/add is the message vault_add, and so on. */
static enum msg_id
message_of(const struct request *r)
{
	const char *group = strchr(r->method->name, '/') + 1, *verb = strrchr(group, '/');
	char name[32];

	snprintf(name, sizeof name, "%.*s_%s", (int)(verb - group), group, verb + 1);
	return message_find(name);
}

static json_t *
say(const struct request *r, void *reply, const struct err *e)
{
	return reply != NULL
	           ? method_complete(r, jschema_write(messages[message_of(r)].reply, reply))
	           : result_rpc_error(r->origin.id, e);
}

/* set: corrects the message before it is sent; may be NULL. */
static json_t *
pass_on(const struct request *r, enum peer to, void (*set)(enum msg_id, void *message))
{
	enum msg_id id = message_of(r);
	auto_free void *message = calloc(1, messages[id].size);
	json_t *params = json_copy(r->params), *answer;
	struct err e;

	must(id != MSG_none && message != NULL);
	json_object_del(params, "_meta");
	if (jschema_read(id, params, message, &e) < 0) {
		answer = method_refuse(r, "%s", e.text);
	} else {
		if (set != NULL)
			set(id, message);
		answer =
		    inquire(r, (struct ask){ .to = to, .message = id, .request = message }, say);
	}
	message_clear(id, message);
	json_decref(params);
	return answer;
}

json_t *
handle_vault(const struct request *r)
{
	return pass_on(r, PEER_vault, NULL);
}

/* The caller does not choose the channel: its rules are those of HTTP. */
static void
set_channel(enum msg_id id, void *message)
{
	if (id == MSG_approval_answer)
		((struct approval_answer *)message)->channel = approval_channel_http;
}

/* The program at the other end of stdio, or of HTTP without credentials, is the one that asks.  Its
 * user answers with `cloister egress approve`, which does not pass through a gateway. */
json_t *
handle_approval(const struct request *r)
{
	struct err e;

	if (r->origin.client->scopes != SCOPES_LOCAL)
		return pass_on(r, PEER_approvald, set_channel);
	err_set(&e, ERR_denied, "an approver needs a credential with the scope cloister:approve");
	return result_rpc_error(r->origin.id, &e);
}
