/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan_out.h - a request that several daemons are asked for, whose replies are put together.
 *
 * They are asked at once and in the name of whoever asks here: each finds only what is that
 * principal's own.  Bounds, deadlines and cancellation are those of calls.h.
 */
#pragma once

#include "gateway/mcp/method.h"

#include "common/table/schema.h"

enum {
	FAN_OUT_WANTS = 3,
};

struct want {
	enum msg_id message;
	json_t *arguments; /* taken; NULL: none */
};

struct reply {
	json_t *value; /* the reply's JSON; NULL: there is none, because of ... */
	json_t *error; /* {"code": a number of JSON-RPC, "message", "data": {"code", "hint"}} */
};

/* The whole answer; replies are in the order of the wants, context is what fan_out_begin() got. All
 * of it is borrowed. */
typedef json_t *fan_out_compose(const struct request *, const struct reply *, json_t *context);

/* The answer, or NULL: it is pending.  Takes context, which may be NULL. */
json_t *fan_out_begin(
    const struct request *, const struct want *, size_t count, fan_out_compose *, json_t *context);

/* Is that the error of what is not there, or not that principal's, which is the same? */
bool fan_out_absent(const struct reply *);
/* The answer that passes such an error on. */
json_t *fan_out_fail(const struct request *, const struct reply *);
