/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - the builder's environment: its own namespaces, the uids of boxes, its /proc. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HOST_INSIDE_ID = 1000, /* uid and gid of every program inside its box */
	HOST_SLOTS = 64,       /* maximum number of builders on one host */
};

enum host_namespace {
	HOST_MNT,
	HOST_PID,
	HOST_NET,
	HOST_IPC,
	HOST_UTS,
	HOST_USER,
	HOST_CGROUP,
	HOST_NAMESPACES,
};

struct host {
	uint32_t limits_by; /* enum limits_by */
	bool mapped;        /* not root: in a user namespace that maps one uid */
	bool joined;        /* that namespace was made by an earlier builder */
	uint32_t slot, processors;
	uid_t first_uid; /* of all slots; 0: the host has too few uids */
	int slot_fd;     /* the slot is locked as long as a copy of this descriptor is open */
	int workspace_table_fd; /* mount namespace of the workspaces of an earlier builder; -1: none
	                         */
	bool own_proc; /* proc shows the builder's pid namespace; otherwise only self/ is usable */
	int proc;
	ino_t namespaces[HOST_NAMESPACES];
	bool loopback;          /* boxes have one, unless */
	uint8_t loopback_errno; /* says why it cannot be brought up */
	uint64_t due; /* layers that every program must have (trial.h): bits by enum layer */
};

/*
 * Continues in a new process: pid 1 of a pid namespace, so that none of its descendants outlives
 * it, with new mount, network, ipc and uts namespaces, and also a user namespace if not root.  The
 * process that the executor started stays on the host until pid 1 ends; then it calls after() and
 * exits.
 */
int host_enter(struct host *, void (*after)(void), struct err *);
/* Call when /proc is in its final place.  Records the namespaces that no box may share. */
int host_note(struct host *, struct err *);
/* The namespaces of the calling process that differ from the recorded ones: bits by enum
 * host_namespace. */
unsigned host_differs(const struct host *);
/* A descriptor of one of the calling process's namespaces. */
int host_space(const struct host *, enum host_namespace, struct err *);
/* The uid and gid of programs in that workspace. */
uid_t host_uid(const struct host *, uint32_t workspace);
/* A uid that owns no files and that no program runs as.  Not valid if only one uid is mapped. */
uid_t host_nobody(const struct host *);
/* After the setup: keeps only the capabilities needed to make boxes.  The process can never gain
 * others. */
int host_drop(const struct host *, struct err *);
/* Writes setgroups, uid_map and gid_map of the calling process, below proc.  The outside ids are
 * those of the parent namespace. */
int host_map(int proc, uid_t inside, uid_t outside_uid, gid_t outside_gid, struct err *);
