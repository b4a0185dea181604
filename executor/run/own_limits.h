/* SPDX-License-Identifier: Apache-2.0 */
/* own_limits.h - limits that a caller set for its later runs, by owner or by session. */
#pragma once

#include "common/bus/bus.h"

#include "executor/run/limits.h"

/* The limits of runs that name no others: the owner's own, or else the server's, as far as a policy
 * allows them.  Valid until the next call. */
const struct limits *own_limits_of(const struct owner *);
/* Sets the owner's own limits. */
int own_limits_keep(const struct owner *, const struct limits *, struct err *);
/* Frees all of them, in stop(). */
void own_limits_forget(void);
