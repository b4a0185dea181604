/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what an executor says of a task, as MCP says it. */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* A Task with its result or error.  *origin names the revision and, for links, the client; client
 * may be NULL.  The parts of the reply in the report are taken. */
json_t *report_task(const struct origin *, const struct account *, struct task_report *);
