/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - what the arguments of a tool name instead of bringing it, so that its content takes no
 * way through the model: a file of a session (hint TAKES_FILE), or a registered schema (hint
 * TAKES_SCHEMA).
 */
#pragma once

#include "gateway/mcp/inquire.h"

#include "common/table/schema.h"

/* A field of the tool's message, and its value, which is owned; field NULL: none. */
struct given {
	const struct field *field;
	struct blob bytes;
};

/* Whether the arguments of that tool name something that has to be fetched. */
bool input_is(enum msg_id tool, const json_t *arguments);
/* Asks for it in the name of the caller, and calls answer() with the executor's reply.  Returns
 * what a method returns. */
json_t *input_ask(
    const struct request *, enum msg_id tool, const json_t *arguments, inquire_answer *answer);
/* For answer(): takes the content out of the reply, which e replaces if it is NULL.  Returns the
 * arguments without those that named it, a new reference; or NULL with *why.  What is too large for
 * them stays named: the executor takes the call as it is. */
json_t *input_take(enum msg_id tool, const json_t *arguments, void *reply, const struct err *e,
    struct given *, struct err *why);
/* Takes the bytes out of *given. */
struct given input_move(struct given *given);
/* Sets the field in the message to the bytes, or to a copy if they are needed again. */
int input_put(struct given *, void *message, bool again, struct err *);
