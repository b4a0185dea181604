/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h - replies and errors of daemons as results of tools/call.
 *
 * The whole reply is in structuredContent.  Everything that a model needs is, as JSON, in the text
 * (brief.h), because clients differ in which of the two they show.
 *
 * Pictures in the reply (elements of any LIST(rich) with a type that clients can show) follow as
 * image content, in order.  The structured form keeps only their types and names.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* Return new results; NULL only if memory is exhausted.  *reply is messages[tool].reply, and its
 * pictures are taken.  Long texts are shortened, and their full text is kept for that account;
 * see fit.h. */
json_t *result_of_reply(
    const struct revision *, const struct account *, enum msg_id tool, void *reply);
/* The same in two steps.  The first step is slow for a long reply and may run in any thread. */
struct rendered {
	json_t *images, *value; /* value NULL: no memory */
};

struct rendered result_render(enum msg_id tool, void *reply);
/* Takes the rendered parts. */
json_t *result_of_rendered(
    const struct revision *, const struct account *, enum msg_id tool, struct rendered);
json_t *result_of_error(const struct revision *, const struct err *);
/* The same as a JSON-RPC error with {"code", "hint"} as its data, for requests that call no
 * tool. */
json_t *result_rpc_error(json_t *id, const struct err *);
