/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - the builder as a whole: a separate program (builder/), root or the user in a user
 * namespace, which takes fixed-size structs over a socketpair (builder/order.h).  builder_link.h
 * has the rest, for the files of this directory.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

/* In open(), before the jail: starts cloister-builder with these arguments (NULL: none).  The
 * builder tries every layer once and reports.  A builder that has not reported after ready_ms is
 * killed, and *e says where it hangs. */
int builder_open(const struct texts *arguments, uint64_t ready_ms, struct err *);
/* After it: fails if isolation_demand() named layers, and no box can be made, or one lacks such a
 * layer. */
int builder_require(struct err *);
/* Why this host can have no boxes, until the executor is started again; NULL: it can. */
const char *builder_refused(void);
/* Workspaces outlive a builder if another process keeps these descriptors, which are useless to a
 * process that may not mount.  builder_give() passes them to the next builder, before
 * builder_open(); builder_leave() returns those to keep. */
enum {
	BUILDER_KEPT = 2,
};
void builder_give(int kept[BUILDER_KEPT]);
/* After builder_open(); -1: there are none.  true: the builder continues with those it was given.
 */
bool builder_leave(int kept[BUILDER_KEPT]);
/* In start(): watches the builder.  Its death ends this daemon, because no process in the jail can
 * start another. */
int builder_start(struct err *);
void builder_stop(void);
/* The layers of the box that was tried at the start; a run's end has the isolation of that run. */
const struct isolation *builder_isolation(void);
