/* SPDX-License-Identifier: Apache-2.0 */
/* look.h - what holds a container, as the kernel tells it from outside. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/order.h"

struct look {
	const struct host *host;
	const struct order *order; /* the box's */
	const struct cgroup *group;
	int own_filters;  /* seccomp programs that the calling process has */
	pid_t parents[2]; /* whose child it may be: in a session's box there may be others */
	int proc;         /* of the box's pid namespace, whole */
};

/* Seccomp programs of the calling process. */
int look_own_filters(int proc);
/*
 * The layers around the process that runs foreign code, and which that is: the container's first,
 * or runsc's sandbox.  0: it is not there yet, or not closed yet.
 */
pid_t look_at(const struct look *, struct layers *);
