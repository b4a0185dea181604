/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - confines a new process between clone and its program: sets up every layer of a box
 * and reads each back before it is reported as in force.
 */
#pragma once

#include "executor/builder/confine/filter.h"
#include "executor/builder/host.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/order.h"

/* Maximum number of pseudo-terminals of a box, as text for the mount option. */
#define CONFINE_MAX_TERMINALS "32"

enum confine_kind {
	CONFINE_BOX,         /* pid 1 of a new box: is in new namespaces and makes the mounts */
	CONFINE_PROGRAM,     /* joins the namespaces of an existing box */
	CONFINE_FILE_HELPER, /* a file helper, in its own namespaces, with only the workspace */
};

struct confine {
	enum confine_kind kind;
	const struct host *host;
	const struct order *order; /* the box's: its workspace and limits */
	const struct cgroup *group;
	const struct filter *filter; /* NULL: keeps the builder's program (CONFINE_BOX) */
	int workspace, tmp;          /* of a box: detached mounts; tmp -1: no /tmp   */
	int spaces[HOST_NAMESPACES]; /* of a program: the namespaces to join; of a box: its
	                                network; -1: keeps the builder's */
	int fds[ORDER_MAX_FDS];      /* descriptors of the order */
	int report;                  /* a SOCK_SEQPACKET socket */
	uint64_t due;                /* of a program: required layers, bits by enum layer */
	bool forked; /* no exec follows; exec would make it dumpable to processes of its uid */
};

/* Reports of a new process to the builder.  They are sent before any guest code has run. */
enum confine_said {
	CONFINE_SPACES = 1, /* of a box: its namespaces, with their descriptors in order */
	CONFINE_READY,      /* layers, steps; or an error, and then the process ends */
};

struct confine_report {
	uint32_t said;
	uint32_t spaces; /* bits by enum host_namespace */
	struct err error;
	struct layers layers;
	uint32_t step_us[STEP_COUNT];
	uint32_t step; /* with an error: enum step; the one that failed */
};

/*
 * Runs in the new process.  Returns when all layers are in force and have been reported to the
 * builder.  A program then has descriptors 0 to 3 in their places and no other open descriptor.  On
 * failure it ends the process.
 */
void confine_enter(const struct confine *);
