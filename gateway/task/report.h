/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - converts an executor's report of a task to an MCP Task. */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* A Task with its result or error.  *origin names the revision and, for links, the client;
 * client may be NULL.  Takes the parts of the reply in the report. */
json_t *report_task(const struct origin *, const struct account *, struct task_report *);
