/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cage.h - what a new process does between clone and its program: every layer of a box, each tried,
 * none believed before it is read back.
 */
#pragma once

#include "executor/builder/confine/filter.h"
#include "executor/builder/host.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/order.h"

/* Pseudo-terminals of a box: mount options are text. */
#define CAGE_MAX_TERMINALS "32"

enum cage_kind {
	CAGE_PLACE,   /* pid 1 of a new box: has made namespaces, and mounts what belongs there */
	CAGE_PROGRAM, /* joins the namespaces of a box */
	CAGE_STEWARD, /* a place of its own with nothing but the workspace */
};

struct cage {
	enum cage_kind kind;
	const struct host *host;
	const struct order *order; /* the box's: its workspace and limits */
	const struct cgroup *group;
	const struct filter *filter; /* NULL: of a place, which keeps the builder's */
	int workspace, tmp;          /* of a place: detached mounts; tmp -1: has none */
	int spaces[HOST_NAMESPACES]; /* of a program: what it joins; of a place: its network; -1:
	                                that of the builder stays */
	int fds[ORDER_MAX_FDS];      /* as they came with the order */
	int report;                  /* a SOCK_SEQPACKET socket */
	uint64_t due;                /* bits by enum layer: of a program; it is not to be without */
	bool forked; /* no exec follows, which would let its own kind read it as any program */
};

/* What a new process tells the builder before any code of a guest has run. */
enum cage_said {
	CAGE_SPACES = 1, /* of a place: spaces, with a descriptor of each in their order */
	CAGE_READY,      /* layers, steps; or error, and it ends */
};

struct cage_report {
	uint32_t said;
	uint32_t spaces; /* bits by enum host_namespace */
	struct err error;
	struct layers layers;
	uint32_t step_us[STEP_COUNT];
};

/*
 * In the new process.  Returns when all of it is in force and the builder has been told: with
 * descriptors 0 to 3 of a program in their places and no other open.  Ends the process otherwise.
 */
void cage_enter(const struct cage *);
