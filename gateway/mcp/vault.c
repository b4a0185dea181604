/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault.c - methods for secrets.  They are no tools, so that no model sees or calls them: a person
 * calls them with `cloister vault`.
 *
 * The vault has no message that returns a value to the gateway.  A value that is added passes
 * through here; the bus takes it, and no log has it.
 */
#include "gateway/mcp/handlers.h"

#include "gateway/mcp/inquire.h"
#include "gateway/mcp/result.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"

#include <stdio.h>
#include <string.h>

/* cloister/vault/add is the message vault_add, and so on. */
static enum msg_id
message_of(const struct request *r)
{
	char name[32];

	snprintf(name, sizeof name, "vault_%s", strrchr(r->method->name, '/') + 1);
	return message_find(name);
}

static json_t *
say(const struct request *r, void *reply, const struct err *e)
{
	return reply != NULL
	           ? method_complete(r, jschema_write(messages[message_of(r)].reply, reply))
	           : result_rpc_error(r->origin.id, e);
}

json_t *
handle_vault(const struct request *r)
{
	enum msg_id id = message_of(r);
	auto_free void *message = calloc(1, messages[id].size);
	json_t *params = json_copy(r->params), *answer;
	struct err e;

	must(id != MSG_none && message != NULL);
	json_object_del(params, "_meta");
	if (jschema_read(id, params, message, &e) < 0)
		answer = method_refuse(r, "%s", e.text);
	else
		answer = inquire(
		    r, (struct ask){ .to = PEER_vault, .message = id, .request = message }, say);
	message_clear(id, message);
	json_decref(params);
	return answer;
}
