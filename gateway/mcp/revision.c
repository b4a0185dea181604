/* SPDX-License-Identifier: Apache-2.0 */
/* revision.c - one row per revision; trusts no claim of a client beyond which revision to answer
 * in. */
#include "gateway/mcp/revision.h"

#include "common/base/auto.h"

#include <string.h>

#define META REVISION_META

/* Newest first; the first is the only modern one. */
static const struct revision revisions[] = {
	{ "2026-07-28", REVISION_2026_07_28, true, false, true, true, true, true },
	{ "2025-11-25", REVISION_2025_11_25, false, false, true, true, true, true },
	{ "2025-06-18", REVISION_2025_06_18, false, false, true, true, false, true },
	{ "2025-03-26", REVISION_2025_03_26, false, true, true, false, false, true },
	{ "2024-11-05", REVISION_2024_11_05, false, false, false, false, false, false },
};

static const struct revision *
find(const char *version, bool modern)
{
	for (const struct revision *revision = revisions; revision < revisions + COUNT(revisions);
	     revision++)
		if (revision->modern == modern && strcmp(revision->version, version) == 0)
			return revision;
	return NULL;
}

const struct revision *
revision_agree(const char *version)
{
	const struct revision *revision = find(version, false);

	return revision != NULL ? revision : &revisions[1];
}

const struct revision *
revision_modern(void)
{
	return &revisions[0];
}

json_t *
revision_supported(void)
{
	json_t *versions = json_array();

	for (const struct revision *revision = revisions; revision < revisions + COUNT(revisions);
	     revision++)
		if (revision->modern)
			json_array_append_new(versions, json_string(revision->version));
	return versions;
}

const struct revision *
revision_claimed(json_t *id, json_t *params, json_t **answer)
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
	const struct revision *revision = find(json_string_value(claim), true);
	if (revision == NULL)
		*answer = jsonrpc_error_data(id, RPC_VERSION, "Unsupported protocol version",
		    json_pack("{s:o, s:O}", "supported", revision_supported(), "requested", claim));
	else if (!json_is_object(json_object_get(meta, META "clientCapabilities")))
		*answer = jsonrpc_error(id, RPC_PARAMS,
		    "Invalid params: _meta[\"" META
		    "clientCapabilities\"] is required and must be an object");
	return *answer == NULL ? revision : NULL;
}

json_t *
revision_unclaimed(json_t *id)
{
	return jsonrpc_error(id, RPC_PARAMS,
	    "Invalid params: _meta lacks \"" META "protocolVersion\" and \"" META
	    "clientCapabilities\"; clients of revisions before 2026-07-28 send initialize first");
}
