/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - how a program ended, as its caller is told. */
#pragma once

#include "executor/run/plan.h"

/* Bytes that outcome_fill() looks at. */
size_t outcome_bytes(const struct box_end *);
/* Takes what it needs of *end; left: what its workspace has room for yet.  In any thread. */
int outcome_fill(struct execution *, struct box_end *end, const struct plan *,
    const struct workspace_limits *left, struct err *);
/* The event of the end, and of a limit that was hit (false: none was). */
enum event outcome_event(const struct execution *);
bool outcome_exceeded(const struct execution *);
