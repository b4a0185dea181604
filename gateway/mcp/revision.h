/* SPDX-License-Identifier: Apache-2.0 */
/*
 * revision.h - the supported revisions of MCP, and how their messages differ.
 *
 * Every request names the current revision.  An earlier revision is agreed on once, by initialize.
 * One process serves all of them at the same time.
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"

/* Bits for the revisions that have a feature. */
enum {
	REVISION_FIRST = 1, /* before initialize, without a revision */
	REVISION_2024_11_05 = 2,
	REVISION_2025_03_26 = 4,
	REVISION_2025_06_18 = 8,
	REVISION_2025_11_25 = 16,
	REVISION_2026_07_28 = 32,
	REVISION_BITS = 6, /* number of bits */

	REVISION_LEGACY =
	    REVISION_2024_11_05 | REVISION_2025_03_26 | REVISION_2025_06_18 | REVISION_2025_11_25,
	REVISION_MODERN = REVISION_2026_07_28,
	REVISION_ALL = REVISION_LEGACY | REVISION_MODERN,
};

/* The prefix of MCP's own members of _meta. */
#define REVISION_META "io.modelcontextprotocol/"

struct revision {
	const char *version;
	unsigned bit;
	bool modern;      /* stateless: _meta in every request, resultType in every result */
	bool batches;     /* arrays of messages */
	bool annotations; /* of tools */
	bool structured;  /* outputSchema, structuredContent, title, resource_link */
	bool icons;       /* and the description of the server */
	bool messages;    /* in progress notifications */
};

/* The version that initialize agrees on: the requested one, or the newest that has an
 * initialize. */
const struct revision *revision_agree(const char *version);
/* The revision that requests name in _meta. */
const struct revision *revision_modern(void);

/*
 * The revision that a request claims in its _meta.  NULL with *answer NULL: it claims none.  NULL
 * with an answer: the claim is malformed, or the version is not supported.
 */
const struct revision *revision_claimed(json_t *id, json_t *params, json_t **answer);
/* The reply to a request that claims no revision and arrives before initialize. */
json_t *revision_unclaimed(json_t *id);

/* An array of the versions that a request may claim. */
json_t *revision_supported(void);
