/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denial.h - what is told of those who were not let in: to the log, and to auditd as auth.denied.
 *
 * Never the token.  A flood of failures is told as one: per second at most DENIALS are recorded, in
 * a spool (common/journal/spool.h) that is bounded; the next one that is says how many before it
 * were not.
 */
#pragma once

#include "common/credential/identity.h"

#include "common/base/err.h"

enum { DENIALS = 10 };

/* Sends what an earlier life could not; in the jail. */
void denial_start(void);
/* who: NULL where that is not known; address "" likewise. */
void denial_note(const struct identity *who, const char *address, const struct err *why);
