/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - tools/call: from JSON to the daemon that serves the tool, and back.
 *
 * A call is answered exactly once: by the daemon, or by an error if the daemon is lost or late.  A
 * call that its client cancelled is not answered.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

struct compat_call;
struct given;

/* A call as read from the client; all members but compat and given are borrowed. */
struct call_in {
	struct origin origin;
	enum msg_id tool;
	json_t *arguments;          /* object, or NULL for none */
	json_t *meta;               /* of the request, or NULL */
	struct compat_call *compat; /* taken; NULL: the call is in the form of core */
	struct given *given;        /* its bytes are taken; NULL: the arguments are complete */
	size_t bytes;               /* size of the message that contains the call */
	enum calls_as {
		CALLS_TOOL,  /* a result of tools/call */
		CALLS_VALUE, /* the reply's JSON, or a JSON-RPC error with {"code", "hint"} as data
		              */
	} as;
	bool task; /* may continue as a task if it takes long, see task/task.h */
};

/* The reply if it is available at once, or NULL: the call is pending. */
json_t *calls_begin(const struct call_in *);
