/* SPDX-License-Identifier: Apache-2.0 */
/*
 * day_use.h - what principals used today, for policies that limit it: processor time, and bytes
 * through egress.
 *
 * A day begins at 00:00 UTC.  The numbers outlive the process: <state>/use.json, written some
 * seconds after a change.  A killed executor forgets those seconds.
 */
#pragma once

#include "common/base/owner.h"
#include "common/rights/rights.h"

/* In start(); state: the state directory, or -1: the numbers are lost with the process. */
void day_use_open(int state);
/* In stop(). */
void day_use_close(void);
/* Counts only if the caller's policy limits it. */
void day_use_add(const struct owner *, double cpu_ms, uint64_t bytes);
/* rate_limited with the time until the next day: it is used up.  rights may be NULL. */
int day_use_check(const struct owner *, const struct rights *, struct err *);
