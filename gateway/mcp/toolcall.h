/* SPDX-License-Identifier: Apache-2.0 */
/* toolcall.h - tools as a transport may have to know them. */
#pragma once

#include "gateway/mcp/revision.h"

/*
 * A tool as tools/list of that revision has it, a new reference; NULL: there is none of that name.
 * Over HTTP the properties of its inputSchema that have an x-mcp-header are to be found in a
 * header.
 */
json_t *toolcall_definition(const struct revision *, const char *name);
