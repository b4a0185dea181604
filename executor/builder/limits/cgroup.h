/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - a group for each box, in the hierarchy that this host delegates: cgroup 2 with its
 * controllers, else version 1's, else none (rlimits remain).
 *
 * A box's group is named by a number; its knobs are reached by descriptors that were opened before
 * the builder left the host's file system.
 */
#pragma once

#include "executor/builder/limits/cgroup_use.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	CGROUP_MAX_JOIN = 5, /* one of its hierarchies counts processor time, not two */
};

/* A box's. */
struct cgroup {
	uint32_t number;
	unsigned tries;            /* its user's: to remove it */
	int join[CGROUP_MAX_JOIN]; /* a process of the box, of one thread, writes itself into each
	                            */
	size_t njoin;
	int into;                  /* for CLONE_INTO_CGROUP, or -1 */
	int use[CGROUP_USES];      /* open for reading, or -1; until it is removed */
	uint64_t memory_bytes;     /* what its programs may hold beside files */
	uint64_t in_force, wanted; /* bits by enum layer */
	uint8_t why[LAYER_COUNT];
};

/*
 * As on the host, until it works: finds what is delegated, makes a directory for this slot, clears
 * it of what an earlier life left.  That directory is locked as long as this process lives or one
 * that comes from it: false, and nothing is touched, where it is another builder's, which may be in
 * a root that shares the cgroups and not /run.
 */
bool cgroup_open(uint32_t slot);
/* When nothing runs in any of them: removes them all. */
void cgroup_close(void);
enum limits_by cgroup_limits_by(void);
/* Is there a controller of processors? */
bool cgroup_shares_processors(void);

/*
 * A group with the limits of *order.  Which layers it gives stands in *group; without cgroups:
 * none.
 *
 * Files in a tmpfs are memory, too, charged to who first touches them; a program that fills its
 * workspace shall be told that it is full, not be killed.  So the kernel's limit is the sum of all,
 * and whoever has the group asks now and then whether what is not files is within its own.  (The
 * thresholds of version 1 would tell, but to set one takes the kernel ten milliseconds.)
 */
int cgroup_make(struct cgroup *, const struct order *, uint64_t workspace_bytes, struct err *);
/*
 * The descriptors by which one more process gets in; closed by cgroup_settle().  cloned: version 2
 * takes it as it is cloned (into), otherwise it joins by itself, as in the hierarchies of version
 * 1.
 */
int cgroup_open_doors(struct cgroup *, bool cloned, struct err *);
void cgroup_settle(struct cgroup *);
/* In that process. */
int cgroup_join(const struct cgroup *, struct err *);
bool cgroup_is_over(const struct cgroup *);
void cgroup_read(const struct cgroup *, struct cgroup_use *);
/* The most memory is counted anew; kernels before 6.12 cannot in version 2. */
void cgroup_forget_peak(const struct cgroup *);
/* false: the kernel still counts something in it; try again. */
bool cgroup_remove(struct cgroup *);
/* The same until it works, a copy of the group, from the loop; and here, waiting. */
void cgroup_retire(const struct cgroup *);
void cgroup_end(struct cgroup *);
