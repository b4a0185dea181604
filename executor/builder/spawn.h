/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - starts pid 1 of new namespaces: the first process of a box, or a file helper. */
#pragma once

#include "executor/builder/process.h"

struct spawn {
	enum confine_kind kind;
	const struct host *host;
	const struct filter *filter; /* NULL: it keeps the builder's */
	struct order room;           /* the limits of its cgroup */
	int64_t began_us;            /* when its preparation began */
	int net, tmp;                /* its network and the mount of its /tmp; -1: none */
	const int *fds;              /* of the order */
	size_t nfds;
	void (*run)(void); /* in the new process, when all layers are in force */
};

/* The caller keeps the descriptors. */
int spawn_pid1(struct process *, const struct spawn *, struct err *);
