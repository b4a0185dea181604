/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h - replies and errors of daemons as results of tools/call.
 *
 * On success everything stands in structuredContent and, as JSON, in the text; on failure
 * everything a model needs stands in the text, since clients differ in which of the two they show.
 *
 * Pictures among it (elements of any LIST(rich) whose type clients can show) follow as image
 * content, in order; in the structured form only their types and names stay.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* New results; NULL only when memory ran out.  *reply is messages[tool].reply; its
 * pictures are taken.  Long texts are shortened and kept for that account, see fit.h. */
json_t *result_of_reply(const struct era *, const struct account *, enum msg_id tool, void *reply);
/* The same in two steps: the first takes long where the reply is, and may be any thread's. */
struct rendered {
	json_t *images, *value; /* value NULL: no memory */
};

struct rendered result_render(enum msg_id tool, void *reply);
/* Takes what was rendered. */
json_t *result_of_rendered(
    const struct era *, const struct account *, enum msg_id tool, struct rendered);
json_t *result_of_error(const struct era *, const struct err *);
/* The same as a JSON-RPC error, with {"code", "hint"} as its data: for what is no tool. */
json_t *result_rpc_error(json_t *id, const struct err *);
