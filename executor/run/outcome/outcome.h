/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - the reply about how a program ended. */
#pragma once

#include "executor/run/plan.h"
#include "executor/sandbox/workspace.h"

/* Bytes that outcome_fill() reads. */
size_t outcome_bytes(const struct box_end *);
/* Takes what it needs from *end; left: free space of the workspace.  May run in any thread. */
int outcome_fill(struct execution *, struct box_end *end, const struct plan *,
    const struct workspace_limits *left, struct err *);
/* The audit event of the end; and whether the run hit a limit. */
enum event outcome_event(const struct execution *);
bool outcome_exceeded(const struct execution *);
