/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - passes a client's message to the method that it names. */
#pragma once

#include "gateway/transport/client.h"

enum { DISPATCH_BATCH = 256 }; /* messages in a batch, at most */

/* Answers the line as JSON-RPC and MCP require, now or later.  A blank line gets no reply. */
void dispatch_line(struct client *, struct exchange *, const struct line *);
/* The same for a parsed message, which the caller keeps.  Its exchange is answered exactly once,
 * with NULL if the message expects no reply. */
void dispatch_message(struct client *, struct exchange *, json_t *message, size_t bytes);
