/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_input.h - a file of a session in place of bytes in the arguments, for tools with the hint
 * TAKES_FILE, so that its content takes no way through the model.
 */
#pragma once

#include "gateway/mcp/inquire.h"

#include "common/table/schema.h"

/* Whether the arguments of that tool name a file. */
bool file_input_is(enum msg_id tool, const json_t *arguments);
/* Asks for the file in the name of the caller, and calls answer() with the executor's reply.
 * Returns what a method returns. */
json_t *file_input_ask(
    const struct request *, enum msg_id tool, const json_t *arguments, inquire_answer *answer);
/* For answer(): is the file too large for the arguments?  Then the executor takes the call as it
 * is. */
bool file_input_is_over(const void *reply, const struct err *);
/* For answer(), else: new params of the request, whose arguments have the file's bytes and no path;
 * or NULL, and *answer is the refusal. */
json_t *file_input_params(
    const struct request *, enum msg_id tool, void *reply, const struct err *, json_t **answer);
