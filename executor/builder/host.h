/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - where the builder stands: namespaces of its own, the uids it may give, its /proc. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HOST_INSIDE_ID = 1000, /* uid and gid of every program, as it sees them itself */
	HOST_SLOTS = 64,       /* builders of one host */
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
	bool mapped;        /* not root: in a user namespace where one uid is mapped, */
	bool joined;        /* which an earlier builder made */
	uint32_t slot, processors;
	uid_t first_uid; /* of all slots; 0: of the host's uids there are too few */
	int slot_fd;     /* its lock, as long as a copy of this descriptor lives */
	int shelf_fd;  /* mount namespace of the workspaces; -1: none was left by an earlier builder
	                */
	bool own_proc; /* proc is of the builder's pid namespace; otherwise only self/ is of use */
	int proc;
	ino_t namespaces[HOST_NAMESPACES];
};

/*
 * Goes on in a new process: pid 1 of a pid namespace, so that nothing which comes from it outlives
 * it, with mount, network, ipc and uts namespaces, and as no root also a user namespace.  The
 * process that the executor started stays on the host until that one ends; then it does `after`,
 * and ends.
 */
int host_enter(struct host *, void (*after)(void), struct err *);
/* Once /proc is where it stays: notes the namespaces that no box may share. */
int host_note(struct host *, struct err *);
/* Those of the calling process which differ: bits by enum host_namespace. */
unsigned host_differs(const struct host *);
/* A descriptor of one of the calling process's namespaces. */
int host_space(const struct host *, enum host_namespace, struct err *);
/* The uid and gid of who works in that workspace. */
uid_t host_uid(const struct host *, uint32_t workspace);
/* One that owns nothing and no program has; not where only one is mapped. */
uid_t host_nobody(const struct host *);
/* What is left once all is set up: the capabilities that boxes take, no new ones ever. */
int host_drop(struct err *);
/* setgroups, uid_map and gid_map of the calling process, below proc; ids of the namespace around
 * it. */
int host_map(int proc, uid_t inside, uid_t outside_uid, gid_t outside_gid, struct err *);
