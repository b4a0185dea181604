/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - a cgroup for each box, in the hierarchy that this host delegates: version 2 with its
 * controllers, otherwise version 1, otherwise none (rlimits remain).
 *
 * The cgroup of a box is named by a number.  Its control files are accessed through descriptors
 * that were opened before the builder left the host's file system.
 */
#pragma once

#include "executor/builder/limits/cgroup_use.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	CGROUP_MAX_JOIN = 5, /* of the two hierarchies for processor time only one is used */
};

/* The cgroup of a box. */
struct cgroup {
	uint32_t number;
	unsigned tries;            /* attempts to remove it (cgroup_retire.c) */
	int join[CGROUP_MAX_JOIN]; /* a single-threaded process of the box writes itself into each
	                            */
	size_t njoin;
	int into;                  /* for CLONE_INTO_CGROUP, or -1 */
	int use[CGROUP_USES];      /* open for reading, or -1; valid until the cgroup is removed */
	uint64_t memory_bytes;     /* the memory that its programs may hold in addition to files */
	uint64_t in_force, wanted; /* bits by enum layer */
	uint8_t why[LAYER_COUNT];
};

/*
 * Call it in the host's file system, and repeat it until it succeeds.  Finds the delegated
 * cgroups, makes a directory for this slot, and removes what an earlier builder left in it.  The
 * directory stays locked as long as this process or one of its descendants lives.  Returns false,
 * and changes nothing, if another builder holds the directory.  That builder may have a root that
 * shares the cgroups but not /run.
 */
bool cgroup_open(uint32_t slot);
/* Before cgroup_open(): no other service is in this process's cgroup, so read-only mounts become
 * writable for this process, and its cgroup's processes move one level down. */
void cgroup_take_own(void);
/* Removes all cgroups.  Call when no process runs in any of them. */
void cgroup_close(void);
enum limits_by cgroup_limits_by(void);
/* True if there is a controller for processor time. */
bool cgroup_shares_processors(void);

/*
 * Makes a cgroup with the limits of *order.  The layers that it provides are written to *group;
 * without cgroups: none.
 *
 * Files in a tmpfs are memory too, charged to the process that first touches them.  A program that
 * fills its workspace must get an error that it is full, and must not be killed.  So the kernel's
 * limit is the sum of memory and files, and the owner of the group periodically checks that the
 * memory without files is within its own limit.  (The thresholds of version 1 would report this,
 * but setting one takes the kernel ten milliseconds.)
 */
int cgroup_make(struct cgroup *, const struct order *, uint64_t workspace_bytes, struct err *);
/*
 * Opens the descriptors through which one more process joins.  cgroup_settle() closes them.
 * cloned: in version 2 the process is cloned into the cgroup (into).  Otherwise it joins by
 * itself, as in the hierarchies of version 1.
 */
int cgroup_open_doors(struct cgroup *, bool cloned, struct err *);
void cgroup_settle(struct cgroup *);
/* Joins the cgroup.  Runs in the new process. */
int cgroup_join(const struct cgroup *, struct err *);
bool cgroup_is_over(const struct cgroup *);
void cgroup_read(const struct cgroup *, struct cgroup_use *);
/* Counts the processes in it, and the threads of all of them, without those that have ended and
 * were not waited for.  0: unknown. */
void cgroup_count(const struct cgroup *, uint32_t *processes, uint32_t *threads);
/* False: the kernel still counts something in it.  Try again. */
bool cgroup_remove(struct cgroup *);
/* The same with retries until it works.  cgroup_retire() works on a copy, from the event loop;
 * cgroup_end() waits. */
void cgroup_retire(const struct cgroup *);
void cgroup_end(struct cgroup *);
