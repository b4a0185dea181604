/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_base.h - runs whose programs may install packages themselves, as `pip install x` and
 * `npm install x`: those whose network reaches an index (builder/user_base.h has what they get).
 */
#pragma once

#include "executor/run/plan.h"

/* After index_hosts_settle(), before builder_open(): gives the builder the indexes, without user
 * and password. */
int user_base_settle(struct err *);
/* Does the network of such a plan reach an index of Python or Node?  A container gets nothing. */
bool user_base_wanted(const struct plan *);
