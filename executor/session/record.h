/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what of each session is to outlive this process: whose it is, its limits, its time,
 * and which workspace it has.
 *
 * The table is memory with a descriptor, which whoever starts this daemon keeps beside that of the
 * workspaces: both are there or neither is, no disk is written to, and no guest has a way to it.
 * A record counts from record_commit() on; this process may be killed between any two steps.
 */
#pragma once

#include "executor/run/limits.h"
#include "executor/session/session_id.h"

struct record {
	char id[SESSION_ID], principal[129], space[65], label[65], profile[129], language[17];
	char parent[65]; /* "" where the session has none, as for label and profile */
	struct limits limits;
	uint64_t ttl_ms;
	int64_t expires_ms; /* of CLOCK_MONOTONIC; 0: it is in use */
	uint32_t workspace;
	bool main, lived; /* lived: code was run in it */
};

/* An empty table; its descriptor, the caller's. */
int record_make(struct err *);
/* That of an earlier life, by its descriptor, which stays the caller's; -1: it is none of this
 * build's. */
int record_take(int fd, struct err *);

/* One that is free, zeroed; NULL: there is no room, or no table. */
struct record *record_new(void);
void record_commit(struct record *);
/* NULL is fine. */
void record_free(struct record *);
/* Those that were committed, from NULL to NULL. */
struct record *record_next(struct record *);

/* Copies a text, NULL as "", of which at any moment all or nothing is there; false: it is too
 * long. */
bool record_text(char *to, size_t size, const char *from);
