/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - tools/call: from JSON to the daemon that serves the tool, and back.
 *
 * A call is answered exactly once: by the daemon, by an error when that is lost or late, or, when
 * the client cancelled it, not at all.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* A call as it was read; all of it is borrowed. */
struct call_in {
	struct origin origin;
	enum msg_id tool;
	json_t *arguments; /* object, or NULL for none */
	json_t *meta;      /* of the request, or NULL */
	size_t bytes;      /* that the message it came in takes */
	enum calls_as {
		CALLS_TOOL,  /* a result of tools/call */
		CALLS_VALUE, /* the reply's JSON, or a JSON-RPC error with {"code", "hint"} as data
		              */
	} as;
	bool task; /* may go on as a task when it takes long, see task/task.h */
};

/* The answer where there is one already, or NULL: it is pending. */
json_t *calls_begin(const struct call_in *);
