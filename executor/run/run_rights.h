/* SPDX-License-Identifier: Apache-2.0 */
/* run_rights.h - what the operator's policy says about a run. */
#pragma once

#include "executor/run/plan.h"

#include "common/rights/rights.h"

/* Checks a read plan, and the arguments that named it.  base: the limits that hold without a
 * request; what is over the policy's is reduced if it is from there, else refused.  own_box false:
 * the box exists.  denied, limit_exceeded. */
int run_rights_check(struct plan *, const struct execute_code *ask, const struct limits *base,
    bool own_box, const struct rights *, struct err *);
