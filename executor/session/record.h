/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the part of each session that outlives this process: owner, limits, expiry and
 * workspace.
 *
 * The table is shared memory with a descriptor.  The process that starts this daemon keeps it
 * together with the workspaces' descriptor: both survive or neither does.  Nothing is written to
 * disk, and no guest can reach the table.  A record is valid from record_commit() on; this process
 * may be killed between any two steps.
 */
#pragma once

#include "executor/run/limits.h"
#include "executor/run/network/domains.h"
#include "executor/session/session_id.h"

#include "common/base/owner.h"

struct record {
	char id[SESSION_ID];
	struct owner owner;
	char namespace[65], profile[129], language[17], environment[33];
	char name[SESSION_NAME];
	char domains[DOMAINS_BYTES];
	char parent[65]; /* "" where the session has none, as for namespace, profile and domains */
	struct limits limits;
	uint64_t ttl_ms;
	int64_t expires_ms; /* of CLOCK_MONOTONIC; 0: in use */
	uint32_t workspace;
	bool main, lived; /* lived: code has run in it */
	bool packages;    /* packages were installed */
};

/* Makes an empty table; returns its descriptor, owned by the caller. */
int record_make(struct err *);
/* Takes over the table of an earlier process by its descriptor, which the caller keeps; -1: the
 * table is not from this build. */
int record_take(int fd, struct err *);

/* A free record, zeroed; NULL: the table is full, or there is none. */
struct record *record_new(void);
void record_commit(struct record *);
/* NULL is allowed. */
void record_free(struct record *);
/* Iterates over committed records, from NULL to NULL. */
struct record *record_next(struct record *);

/* Copies a text atomically: at any moment all or nothing of it is there.  NULL is copied as "".
 * false: too long. */
bool record_text(char *to, size_t size, const char *from);
