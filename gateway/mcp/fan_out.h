/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan_out.h - a client's request that sends messages to several daemons and combines their
 * replies.
 *
 * The messages are sent in parallel in the name of the client's principal, so each daemon returns
 * only what that principal owns.  Bounds, deadlines and cancellation are those of calls.h.
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
	json_t *value; /* the reply's JSON; NULL: there is no reply, see error */
	json_t *error; /* {"code": a number of JSON-RPC, "message", "data": {"code", "hint"}} */
};

/* Returns the whole answer.  The replies are in the order of the wants, and context is the one
 * given to fan_out_begin().  All of it is borrowed. */
typedef json_t *fan_out_compose(const struct request *, const struct reply *, json_t *context);

/* The answer, or NULL: it is pending.  Takes context, which may be NULL. */
json_t *fan_out_begin(
    const struct request *, const struct want *, size_t count, fan_out_compose *, json_t *context);

/* Whether the error says that the object does not exist.  Another principal's object gives the
 * same error. */
bool fan_out_absent(const struct reply *);
/* The answer that passes such an error on. */
json_t *fan_out_fail(const struct request *, const struct reply *);
