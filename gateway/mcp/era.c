/* SPDX-License-Identifier: Apache-2.0 */
/* era.c - one row a revision; trusts nothing that a client claims beyond what it can answer. */
#include "gateway/mcp/era.h"

#include "common/base/auto.h"

#include <string.h>

#define META ERA_META

/* Newest first, the only modern one at the top. */
static const struct era eras[] = {
	{ "2026-07-28", ERA_2026_07_28, true, false, true, true, true, true },
	{ "2025-11-25", ERA_2025_11_25, false, false, true, true, true, true },
	{ "2025-06-18", ERA_2025_06_18, false, false, true, true, false, true },
	{ "2025-03-26", ERA_2025_03_26, false, true, true, false, false, true },
	{ "2024-11-05", ERA_2024_11_05, false, false, false, false, false, false },
};

static const struct era *
find(const char *version, bool modern)
{
	for (const struct era *era = eras; era < eras + COUNT(eras); era++)
		if (era->modern == modern && strcmp(era->version, version) == 0)
			return era;
	return NULL;
}

const struct era *
era_agree(const char *version)
{
	const struct era *era = find(version, false);

	return era != NULL ? era : &eras[1];
}

const struct era *
era_modern(void)
{
	return &eras[0];
}

json_t *
era_supported(void)
{
	json_t *versions = json_array();

	for (const struct era *era = eras; era < eras + COUNT(eras); era++)
		if (era->modern)
			json_array_append_new(versions, json_string(era->version));
	return versions;
}

const struct era *
era_claimed(json_t *id, json_t *params, json_t **answer)
{
	json_t *meta = json_object_get(params, "_meta");
	json_t *claim = json_object_get(meta, META "protocolVersion");

	*answer = NULL;
	if (claim == NULL)
		return NULL;
	if (!json_is_string(claim)) {
		*answer = jsonrpc_error(id, RPC_PARAMS,
		    "Invalid params: _meta[\"" META "protocolVersion\"] must be a string");
		return NULL;
	}
	const struct era *era = find(json_string_value(claim), true);
	if (era == NULL)
		*answer = jsonrpc_error_data(id, RPC_VERSION, "Unsupported protocol version",
		    json_pack("{s:o, s:O}", "supported", era_supported(), "requested", claim));
	else if (!json_is_object(json_object_get(meta, META "clientCapabilities")))
		*answer = jsonrpc_error(id, RPC_PARAMS,
		    "Invalid params: _meta[\"" META
		    "clientCapabilities\"] is required and must be an object");
	return *answer == NULL ? era : NULL;
}

json_t *
era_unclaimed(json_t *id)
{
	return jsonrpc_error(id, RPC_PARAMS,
	    "Invalid params: _meta lacks \"" META "protocolVersion\" and \"" META
	    "clientCapabilities\"; clients of revisions before 2026-07-28 send initialize first");
}
