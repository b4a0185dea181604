/* SPDX-License-Identifier: Apache-2.0 */
/*
 * era.h - the supported revisions of MCP, and how their messages differ.
 *
 * The current revision is named in every request.  Earlier ones are agreed on once, by initialize.
 * One process serves all of them at once.
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"

/* Bits for the revisions that have a feature. */
enum {
	ERA_FIRST = 1, /* before initialize, without a revision */
	ERA_2024_11_05 = 2,
	ERA_2025_03_26 = 4,
	ERA_2025_06_18 = 8,
	ERA_2025_11_25 = 16,
	ERA_2026_07_28 = 32,
	ERA_BITS = 6, /* number of bits */

	ERA_LEGACY = ERA_2024_11_05 | ERA_2025_03_26 | ERA_2025_06_18 | ERA_2025_11_25,
	ERA_MODERN = ERA_2026_07_28,
	ERA_ALL = ERA_LEGACY | ERA_MODERN,
};

/* The prefix of MCP's own members of _meta. */
#define ERA_META "io.modelcontextprotocol/"

struct era {
	const char *version;
	unsigned bit;
	bool modern;      /* stateless: _meta in every request, resultType in every result */
	bool batches;     /* arrays of messages */
	bool annotations; /* of tools */
	bool structured;  /* outputSchema, structuredContent, title, resource_link */
	bool icons;       /* and the description of the server */
	bool messages;    /* in progress notifications */
};

/* What initialize agrees on: the requested version, or the newest that has an initialize. */
const struct era *era_agree(const char *version);
/* The revision that requests name. */
const struct era *era_modern(void);

/*
 * The revision that a request claims in its _meta.  NULL with *answer NULL: it claims none.  NULL
 * with an answer: the claim is malformed, or the version is not supported.
 */
const struct era *era_claimed(json_t *id, json_t *params, json_t **answer);
/* The reply to a request that claims none before initialize. */
json_t *era_unclaimed(json_t *id);

/* The versions that can be claimed, an array. */
json_t *era_supported(void);
