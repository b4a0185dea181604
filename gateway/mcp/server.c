/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - the server's description of itself, and the handshake of earlier revisions.
 *
 * Sources: 2026-07-28 server/discover; 2025-11-25 basic/lifecycle.
 */
#include "gateway/compat/compat.h"
#include "gateway/mcp/handlers.h"
#include "gateway/mcp/icon.h"
#include "gateway/mcp/instructions.h"
#include "gateway/mcp/methods.h"

#include "common/credential/scope.h"
#include "gateway/mcp/resource/listen.h"
#include "gateway/options.h"
#include "gateway/rpc/write.h"

#include "common/base/auto.h"

#include <string.h>

/* clang-format off */
static const char *const of_systems[ROWS_SYSTEMS] = {
#define SYSTEM(system, ...) [ROWS_##system] = INSTRUCTIONS_##system,
#include "common/table/compat.def"
};
/* clang-format on */

/* The operator's, or those of the toolset. */
static const char *
instructions(void)
{
	bool standard = strcmp(options.instructions, INSTRUCTIONS) == 0;

	return standard && compat_on() ? of_systems[compat_system()] : options.instructions;
}

static json_t *
describe(json_t *result, const struct revision *revision)
{
	json_object_set_new(result, "capabilities", methods_capabilities(revision));
	if (instructions()[0] != '\0')
		json_object_set_new(result, "instructions", json_string(instructions()));
	return result;
}

static json_t *
make_discovery(const struct request *r)
{
	const struct revision *revision = r->origin.revision;
	json_t *result = json_pack("{s:o, s:{s:o}}", "supportedVersions", revision_supported(),
	    "_meta", REVISION_META "serverInfo", method_server_info(revision));

	return method_finish(r, describe(result, revision));
}

/* The first request of clients.  There are two results, one for shared and one for private caches,
 * and neither changes while the process lives. */
json_t *
handle_discover(const struct request *r)
{
	static json_t *made[2];
	json_t **one = &made[r->origin.client->scopes == SCOPES_LOCAL];

	if (*one == NULL)
		*one = write_constant(make_discovery(r));
	return jsonrpc_result(r->origin.id, json_incref(*one));
}

json_t *
handle_ping(const struct request *r)
{
	return jsonrpc_result(r->origin.id, json_object());
}

/* Keeps only the capabilities that the gateway looks up: the client chooses the size of the
 * rest. */
static json_t *
read_capabilities(const json_t *declared)
{
	static const char *const names[][3] = {
		{ "elicitation", "form", "url" },
		{ "roots" },
		{ "sampling" },
	};
	json_t *all = json_object();

	for (size_t i = 0; i < COUNT(names); i++) {
		json_t *from = json_object_get(declared, names[i][0]), *to = json_object();

		for (size_t k = 1; k < COUNT(names[i]) && names[i][k] != NULL; k++)
			if (json_is_object(json_object_get(from, names[i][k])))
				json_object_set_new(to, names[i][k], json_object());
		if (json_is_object(from))
			json_object_set(all, names[i][0], to);
		json_decref(to);
	}
	return all;
}

json_t *
handle_initialize(const struct request *r)
{
	struct client *client = r->origin.client;
	json_t *wanted = json_object_get(r->params, "protocolVersion");

	if (client->revision != NULL)
		return jsonrpc_error(r->origin.id, RPC_INVALID,
		    "Invalid Request: already initialized, with protocol version %s",
		    client->revision->version);
	if (r->origin.batch != NULL)
		return jsonrpc_error(r->origin.id, RPC_INVALID,
		    "Invalid Request: initialize must not be in a batch");
	if (!json_is_string(wanted))
		return method_refuse(r, "protocolVersion must be a string");
	client->revision = revision_agree(json_string_value(wanted));
	json_decref(client->capabilities);
	client->capabilities = read_capabilities(json_object_get(r->params, "capabilities"));
	listen_welcome(client);
	return jsonrpc_result(r->origin.id,
	    describe(json_pack("{s:s, s:o}", "protocolVersion", client->revision->version,
			 "serverInfo", method_server_info(client->revision)),
		client->revision));
}
