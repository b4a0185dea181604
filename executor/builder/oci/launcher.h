/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - a process beside the builder that starts container runtimes in boxes.
 *
 * Runtimes need more capabilities and system calls than the builder keeps for itself.  So the
 * launcher is forked before the builder gives those up.  It communicates only with the builder:
 * bytes of the executor or of a guest reach it only inside the builder's structs
 * (launch/zygote.h).
 */
#pragma once

#include "executor/builder/confine/filter.h"
#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* Adds a runtime of the settings by its name and path. */
int launcher_add(const char *name, const char *path, struct err *);
/* Layers (bits by enum layer) without which no program of a container starts. */
void launcher_require(uint64_t layers);
/* True if a runtime is in this directory. */
bool launcher_is_below(const char *directory);
/* Checks a container number (enum container).  Fails with isolation_unavailable if the runtime does
 * not exist or no container can run here. */
int launcher_check(const struct host *, uint32_t container, struct err *);
/* Adds what the runtime itself uses to the limits of a box. */
void launcher_make_room(struct order *box);
/* Forks the launcher if there is any runtime; otherwise *sock is -1.  The filters are those of
 * the languages. */
int launcher_open(
    const struct host *, const struct filter *filters, pid_t *, int *sock, struct err *);
