/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - the last 65,536 events by daemon and uid, so that an event sent twice is recorded once.
 *
 * A daemon sends a batch again if its acknowledgement was lost.  It has one batch under way, so the
 * bound suffices unless other daemons record more events than that in the meantime.  In that case
 * the log has the event twice, with the same uid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

void seen_open(void);
/* Returns false if it is there already. */
bool seen_add(const char *daemon, const char *uid);
/* Forgets the n most recent entries. */
void seen_undo(size_t n);
