/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the requests and answers: one file each, and all of them in memory.
 *
 * A change is durable before the function returns; if it cannot be written, nothing has changed.
 * A file ends with the hash of its content.  A file that does not match it (a torn write, a damaged
 * disk) is renamed to NAME.damaged and grants nothing.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"
#include "common/table/schema.h"

/* Reads the files of the directory, which stays the caller's. */
int store_open(int directory, struct err *);
void store_close(void);

/* Stores a new record with a new id; takes its contents in any case.  limit_exceeded: all records
 * of that principal, or of all, are pending or in force.  Otherwise the oldest that is not is
 * removed for it. */
struct approval *store_add(struct approval *, struct err *);
/* Replaces the record by *next, which shares its texts except answered_by (a new text, taken in
 * any case, or the same). */
int store_change(struct approval *, struct approval *next, struct err *);

struct approval *store_find(const char *id);
/* Records in order of their creation; NULL after the last. */
struct approval *store_at(size_t i);
/* Whether a tool call of that owner made it. */
bool store_owned(const struct approval *, const struct owner *);
/* Whether it waits for an answer or permits something. */
bool store_live(const struct approval *);
/* Removes a record that no caller has seen. */
void store_remove(struct approval *);
