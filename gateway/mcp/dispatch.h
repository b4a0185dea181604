/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - what a client's message asks for, and who does it. */
#pragma once

#include "gateway/transport/client.h"

enum { DISPATCH_BATCH = 256 }; /* messages in a batch, at most */

/* Whatever the line holds is answered as JSON-RPC and MCP ask, now or later; a blank one is not. */
void dispatch_line(struct client *, struct exchange *, const struct line *);
/* The same for one that is parsed, and stays the caller's; its exchange is answered exactly once,
 * with NULL where the message asks for no answer. */
void dispatch_message(struct client *, struct exchange *, json_t *message, size_t bytes);
