/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - the last 65,536 events by daemon and uid, so that one sent twice is recorded once.
 *
 * A daemon sends a batch again when its acknowledgement was lost; it has one batch under way, so
 * the bound is met unless others record more than that in the meantime.  Then the event stands in
 * the log twice, with the same uid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

void seen_open(void);
/* false: it is there already. */
bool seen_add(const char *daemon, const char *uid);
/* Forgets the n that were added last. */
void seen_undo(size_t n);
