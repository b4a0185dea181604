/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denial.h - records failed authentication: in the log, and with auditd as auth.denied.
 *
 * A token is never recorded.  At most DENIALS events a second are recorded, in a bounded spool
 * (common/journal/spool.h).  The next recorded event says how many before it were dropped.
 */
#pragma once

#include "common/credential/identity.h"

#include "common/base/err.h"

enum { DENIALS = 10 };

/* Sends events that an earlier process left in the spool.  Call it in the jail. */
void denial_start(void);
/* who: NULL if unknown; address: "" if unknown. */
void denial_note(const struct identity *who, const char *address, const struct err *why);
