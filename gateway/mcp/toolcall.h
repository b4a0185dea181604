/* SPDX-License-Identifier: Apache-2.0 */
/* toolcall.h - the definitions of tools, for transports. */
#pragma once

#include "gateway/mcp/revision.h"

/*
 * A tool as tools/list of that revision returns it, a new reference; NULL: there is no tool of
 * that name.  Over HTTP, the properties of its inputSchema that have an x-mcp-header are sent as
 * headers too.
 */
json_t *toolcall_definition(const struct revision *, const char *name);
