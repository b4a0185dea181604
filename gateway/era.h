/* SPDX-License-Identifier: Apache-2.0 */
/*
 * era.h - the revisions of MCP that are spoken here, and how their messages differ.
 *
 * The current one names itself in every request; earlier ones are agreed on once, by initialize.
 * All are served by one process at once.
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"

struct era {
	const char *version;
	bool modern;      /* stateless: _meta in every request, resultType in every result */
	bool batches;     /* arrays of messages */
	bool annotations; /* of tools */
	bool structured;  /* outputSchema, structuredContent, title */
	bool described;   /* description of the server */
	bool messages;    /* in progress notifications */
};

/* What initialize agrees on: the version asked for, or the newest that has an initialize. */
const struct era *era_agree(const char *version);

/*
 * The era that a request claims in its _meta: NULL with *answer NULL where it claims none, NULL
 * with an answer where the claim is malformed or of a version not spoken here.
 */
const struct era *era_claimed(json_t *id, json_t *params, json_t **answer);
/* The answer to a request that claims none where no initialize came before. */
json_t *era_unclaimed(json_t *id);

/* The versions that can be claimed, an array. */
json_t *era_supported(void);
/* Who answers, as that era describes it. */
json_t *era_server_info(const struct era *);
/* Takes a result and gives it what every result of that era has; for cacheable ones how long they
 * hold, too. */
json_t *era_finish(const struct era *, json_t *result, bool cacheable);
