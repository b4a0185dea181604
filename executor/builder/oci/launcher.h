/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - a process beside the builder that starts container runtimes in boxes.
 *
 * They need more capabilities and system calls than the builder keeps for itself.  So this one is
 * forked before it gives those up, and speaks to nobody else: no byte of the executor's or of a
 * guest's reaches it but in the builder's structs (launch/zygote.h).
 */
#pragma once

#include "executor/builder/confine/filter.h"
#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* One of the settings', by its name and path. */
int launcher_add(const char *name, const char *path, struct err *);
/* isolation_unavailable: there is no such runtime (enum container), or none can run here. */
/* Is one of them in this directory? */
bool launcher_is_below(const char *directory);
int launcher_check(const struct host *, uint32_t container, struct err *);
/* What the runtime of a box takes itself, on top of the box's limits. */
void launcher_make_room(struct order *box);
/* Forks it, if there is any runtime; *sock is -1 else.  The filters are those of the languages. */
int launcher_open(
    const struct host *, const struct filter *filters, pid_t *, int *sock, struct err *);
