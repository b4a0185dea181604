/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denial.h - what is told of those who were not let in: to the log, and to auditd as auth.denied.
 *
 * Never the token.  A flood of failures is told as one: per second at most DENIALS are recorded,
 * the next one says how many were not.
 */
#pragma once

#include "gateway/auth/identity.h"

#include "common/err.h"

enum { DENIALS = 10 };

/* who: NULL where that is not known; address "" likewise. */
void denial_note(const struct identity *who, const char *address, const struct err *why);
