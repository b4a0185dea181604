/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h - calls on whole snapshots: commit, open, query, drop. */
#pragma once

#include "common/bus/bus.h"

int snapshot_on_commit(struct call *, void *request, struct err *);
int snapshot_on_open(struct call *, void *request, struct err *);
int snapshot_on_query(struct call *, void *request, struct err *);
int snapshot_on_drop(struct call *, void *request, struct err *);
