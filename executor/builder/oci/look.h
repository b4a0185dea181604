/* SPDX-License-Identifier: Apache-2.0 */
/* look.h - the layers of a container, read from outside through the kernel. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/order.h"

struct look {
	const struct host *host;
	const struct order *order; /* the box's */
	const struct cgroup *group;
	int own_filters;  /* number of seccomp programs of the calling process */
	pid_t parents[2]; /* its possible parents: the box of a session may have other processes */
	int proc;         /* a complete /proc of the box's pid namespace */
};

/* Returns the number of seccomp programs of the calling process. */
int look_own_filters(int proc);
/*
 * Finds the process that runs foreign code, and the layers around it.  The process is the first
 * one of the container, or runsc's sandbox.  0: it does not exist yet, or is not closed yet.
 */
pid_t look_at(const struct look *, struct layers *);
