/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - a box: namespaces, mounts, cgroups, and a pid 1 that only reaps.  Programs are started
 * in it (program.h).
 */
#pragma once

#include "executor/builder/mounts.h"
#include "executor/builder/process.h"

struct box {
	struct process process;
	struct mounts mounts;
	struct process *waiting; /* programs that wait until it is ready */
	bool used;               /* code has run in it */
	bool strays;             /* a zygote may have left an unknown process in it */
	int net, far, tmp, spaces[HOST_NAMESPACES]; /* far: of egress's listeners; -1: none */
	uint64_t timer;
	uint64_t last_us; /* limit of processor time; 0: none */
};

extern const struct process_kind box_kind;

void box_open(const struct host *);
/* NULL: it is not a box. */
struct box *box_of(struct process *);

/* Makes the box of an order.  The answers are sent later. */
int box_order(const struct order *, struct err *);
/* Adds a program.  False: the box is not ready yet, and calls begin() when it is. */
bool box_join(struct box *, struct process *program);
/* Kills the box after that time and a grace period, and reports its usage until then.  0: sends
 * its usage now, and the box has no time limit. */
void box_set_clock(struct box *, uint64_t wall_ms);

/* Kills the box when what its processes still write has had its time.  The executor kills it
 * earlier if there is nothing to wait for. */
void box_end_soon(struct box *);
/* Sends its usage, like a clock of 0, and goes on counting; and the number of its processes. */
void box_tell_count(struct box *);

/* The same without the event loop: a box that the caller frees. */
struct box *box_new(const struct order *, struct err *);
int box_start(struct box *, struct err *);

/* Samples from /proc, where no cgroup counts: 0 if this builder sees no processes. */

/* Memory of all its processes now; records the peak. */
uint64_t box_sample_memory(struct box *);
/* Processor time of the same processes, and of those that ended. */
uint64_t box_sample_cpu_us(struct box *);
