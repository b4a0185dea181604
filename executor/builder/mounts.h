/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.h - what a session gets while its programs run: packages, which are directories of
 * workspaces that its box sees read-only, and a place for what its programs install.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mount_wait;
struct order;

/* Of one box. */
struct mounts {
	struct mount_wait *waiting; /* orders that wait until it is ready */
	bool ready;
	bool trusts;         /* its certificates are covered (box_trust.h) */
	int space;           /* its mount namespace, if it is ready; the box owns the descriptor */
	uid_t owner;         /* of ORDER_USER_BASE: the box's uid, */
	uint64_t base_bytes; /* and the limit */
};

/* Carries out an ORDER_MOUNT, or an ORDER_TRUST with this certificate, which it owns then, at once
 * or, if the box is not ready yet, before its programs start. A later mount on the same place
 * covers the earlier one.  -1: refused, and no answer was sent. */
int mounts_add(struct mounts *, const struct order *, char *certificate, struct err *);
/* The box is ready. */
void mounts_settle(struct mounts *, int space);
/* The box ends: answers the orders that still wait. */
void mounts_forget(struct mounts *);
