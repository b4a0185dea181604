/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotate.h - when a segment of the log is closed, and when one is removed.
 *
 * A closed segment ends with a record that holds a signed checkpoint of what is before it.  The
 * next one begins with a checkpoint of all of the closed one.  That checkpoint names what was
 * removed, after the closed segment is gone.
 */
#pragma once

#include "common/base/err.h"
#include "common/journal/chain.h"

#include <stdbool.h>

/* Before a record is added: closes the open segment if it is due, and begins the next one. */
int rotate_before_add(struct err *);
/* At start: a record that closed a segment. */
void rotate_closed(uint64_t number);
/* Records that are not durable were undone. */
void rotate_undone(void);
/* Removes the segments that are older than they are kept, and records that. */
void rotate_retain(void);
