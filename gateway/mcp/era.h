/* SPDX-License-Identifier: Apache-2.0 */
/*
 * era.h - the revisions of MCP that are spoken here, and how their messages differ.
 *
 * The current one names itself in every request; earlier ones are agreed on once, by initialize.
 * All are served by one process at once.
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"

/* Bits of the eras that something exists in. */
enum {
	ERA_FIRST = 1, /* before initialize, when there is none yet */
	ERA_2024_11_05 = 2,
	ERA_2025_03_26 = 4,
	ERA_2025_06_18 = 8,
	ERA_2025_11_25 = 16,
	ERA_2026_07_28 = 32,
	ERA_BITS = 6, /* how many there are */

	ERA_LEGACY = ERA_2024_11_05 | ERA_2025_03_26 | ERA_2025_06_18 | ERA_2025_11_25,
	ERA_MODERN = ERA_2026_07_28,
	ERA_ALL = ERA_LEGACY | ERA_MODERN,
};

/* The prefix of MCP's own members of a _meta. */
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

/* What initialize agrees on: the version asked for, or the newest that has an initialize. */
const struct era *era_agree(const char *version);
/* The one whose requests name it. */
const struct era *era_modern(void);

/*
 * The era that a request claims in its _meta: NULL with *answer NULL where it claims none, NULL
 * with an answer where the claim is malformed or of a version not spoken here.
 */
const struct era *era_claimed(json_t *id, json_t *params, json_t **answer);
/* The answer to a request that claims none where no initialize came before. */
json_t *era_unclaimed(json_t *id);

/* The versions that can be claimed, an array. */
json_t *era_supported(void);
