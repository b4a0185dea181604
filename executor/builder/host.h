/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - where the builder stands: namespaces of its own, the uids it may give, its /proc. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HOST_INSIDE_ID = 1000, /* uid and gid of every program, as it sees them itself */
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
	int slot_fd;   /* its lock, as long as a copy of this descriptor lives */
	int shelf_fd;  /* mount namespace of the workspaces; -1: none was left by an earlier builder
	                */
	bool own_proc; /* proc is of the builder's pid namespace; otherwise only self/ is of use */
	int proc;
	ino_t namespaces[HOST_NAMESPACES];
};

/*
 * One among the builders of this host, and so uids that no other gives, for which groups() could
 * be had.  With slot_fd and shelf_fd of an earlier builder it is that one's, when nothing lives any
 * more that came from it; a host where that cannot be has both taken away (-1 and another slot).
 * Between two such lives the slot stays locked and its groups do not: where another root has taken
 * them, they are those of the next slot that are free.
 */
int host_slot(struct host *, bool (*groups)(uint32_t slot), struct err *);
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
