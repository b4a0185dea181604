/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - what the index answered to a question in the last minutes: digests of archives.
 *
 * A box that runs nobody's code asked, so the answer is as good for another session.  It is worth
 * nothing without the packages of these digests.
 */
#pragma once

#include "executor/packages/package.h"

#include "executor/builder/order.h"

/* The question in one form, whatever the order of its words; allocated with malloc.  NULL: no
 * memory. */
char *lock_key(const char *language, const struct texts *words);
/* All packages of the answer for that Python (package.h), which the caller then uses; their number.
 * 0: ask the index. */
size_t lock_find(const char *key, unsigned python, struct package *packages[ORDER_MAX_PACKAGES]);
/* Keeps the answer; without memory it is asked again. */
void lock_keep(const char *key, const struct texts *digests);
/* In stop(). */
void lock_forget(void);
