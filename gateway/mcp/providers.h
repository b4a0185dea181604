/* SPDX-License-Identifier: Apache-2.0 */
/* providers.h - what all providers together offer.  The handlers are declared in handlers.h. */
#pragma once

#include "gateway/mcp/provider.h"

/* Adds a provider after those of the gateway.  Call before the loop starts; the struct must live
 * as long as the process. */
void providers_add(const struct provider *);

/* Whether that list changes while the gateway runs. */
bool providers_change(enum provider_list);
/*
 * A tool as tools/list of that revision returns it, a new reference; NULL: there is no tool of
 * that name.  Over HTTP, the properties of its inputSchema that have an x-mcp-header are sent as
 * headers too.
 */
json_t *providers_tool(const struct revision *, const char *name);
/* Whether a provider has that task of the account without a message to a daemon. */
bool providers_have_task(const struct account *, const char *id);
