/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_ops.h - what differs between the versions of cgroups: a constant table for each.
 *
 * cgroup.c chooses a table once and reads it.  A root is a number of cgroup_roots.h: version 2 has
 * one root, version 1 has one for each controller.
 */
#pragma once

#include "executor/builder/limits/cgroup_roots.h"
#include "executor/builder/order.h"

struct cgroup;

enum {
	CGROUP_PATH_BELOW = 64, /* of a box's file in a root */
	CGROUP_PERIOD_US = 100000,
};

/* A control file of a group.  name NULL: this version has none. */
struct cgroup_file {
	unsigned root;
	const char *name;
	const char *after; /* what follows the number of a limit; NULL: nothing */
};

/* A number in a file, as cgroup_use_number() finds it. */
struct cgroup_number {
	const char *name, *key;
};

struct cgroup_ops {
	enum limits_by by;
	struct cgroup_file memory, processes, cpu, weight; /* limits */
	uint64_t process_weight; /* the weight of a process that is in no group */
	unsigned huge;           /* the root with the limits of huge pages */
	struct cgroup_file uses[CGROUP_USES];
	struct cgroup_number memory_used, memory_held[2]; /* with files; without, a sum */
	struct cgroup_file threads;      /* lists them; its root's cgroup.procs lists processes */
	const char *doors[CGROUP_ROOTS]; /* the file by which a process joins by itself */

	/* Finds the delegated cgroups and adds the roots.  False: there are none, or taken. */
	bool (*open)(struct cgroup_roots *);
	/* Sets what not all kernels have.  directory: the root with memory. */
	void (*refine)(int directory, const struct cgroup *, uint64_t memory_bytes);
};

extern const struct cgroup_ops cgroup_v1, cgroup_v2;

/* The path of a box's file in a root; "": of its directory. */
struct cgroup_path {
	char text[CGROUP_PATH_BELOW];
};

struct cgroup_path cgroup_path_of(const struct cgroup *, const char *name);
