/* SPDX-License-Identifier: Apache-2.0 */
/* own_limits.h - limits that a caller set for later runs: its principal's, or a session's. */
#pragma once

#include "common/bus/bus.h"

#include "executor/run/limits.h"

/* Of runs that name no others: the principal's own, or else the server's. */
const struct limits *own_limits_of(const struct call *);
/* From now on the principal has these. */
int own_limits_keep(const struct call *, const struct limits *, struct err *);
/* In stop(). */
void own_limits_forget(void);
