/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approval.h - calls of tools that ask a person (hint ASKS_PERSON).
 *
 * The daemon returns the request.  If it is pending, the client's user is asked, and the answer
 * goes to the daemon, which keeps the first one.  A client that cannot ask gets approval_required,
 * with the command for a terminal.  No argument of a call is an answer.
 */
#pragma once

#include "gateway/mcp/method.h"

#include "common/table/schema.h"

/* arguments: as our own tool takes them, borrowed.  The answer, or NULL: it is pending. */
json_t *approval_call(const struct request *, enum msg_id tool, const json_t *arguments);
