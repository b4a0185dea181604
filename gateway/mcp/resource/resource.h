/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h - the resources of the server, and the templates of a principal's resources. */
#pragma once

#include "gateway/mcp/provider.h"

extern const struct provider resource_provider;

/* Answers resources/list: all, which is taken, and then the sessions and snapshots of the
 * principal, if an executor is connected. */
json_t *resource_answer_list(const struct request *, json_t *all);

/* The scopes that reading it needs: those of the tools that return the same data. */
unsigned resource_scopes(const char *uri);

/* The templates that completion supports; NULL after the last.  See resource.c. */
const char *resource_template(unsigned index);
