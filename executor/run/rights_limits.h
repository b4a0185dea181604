/* SPDX-License-Identifier: Apache-2.0 */
/* rights_limits.h - limits of a run or a session, within those of the operator's policy. */
#pragma once

#include "executor/run/limits.h"

#include "common/rights/rights.h"

/* base: the limits that hold without a request.  What is over the policy's is reduced if it is from
 * there, else refused with limit_exceeded.  own_box false: the box exists, and its memory and
 * processes stay. */
int rights_limits(
    struct limits *, const struct limits *base, bool own_box, const struct rights *, struct err *);
