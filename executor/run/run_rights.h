/* SPDX-License-Identifier: Apache-2.0 */
/* run_rights.h - what the operator's policy says about a run. */
#pragma once

#include "executor/run/plan.h"

#include "common/rights/rights.h"

/* plan_read() with the caller's limits, or its session's, and then what its policy says.  denied,
 * limit_exceeded, and what plan_read() refuses. */
int run_rights_plan(struct plan *, const struct call *, struct execute_code *ask,
    const struct session *, struct err *);
