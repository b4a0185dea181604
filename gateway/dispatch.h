/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - what a client's line asks for, and who does it. */
#pragma once

#include "gateway/client.h"

/* Whatever the line holds is answered as JSON-RPC and MCP ask, now or later. */
void dispatch_line(struct client *, const struct line *);
