/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.h - directories of workspaces that a box sees read-only: packages, which a session gets
 * while its programs run.
 */
#pragma once

#include "executor/builder/box.h"

/* Carries out an ORDER_MOUNT, at once or, if the box is not ready yet, before its programs start.
 * A later mount on the same place covers the earlier one.  -1: refused, and no answer was sent. */
int mounts_add(struct box *, const struct order *, struct err *);
/* The box is ready. */
void mounts_settle(struct box *);
/* The box ends: answers the orders that still wait. */
void mounts_forget(struct box *);
