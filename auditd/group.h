/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - group commit: what arrives while the disk is busy becomes durable together.
 *
 * A thread of its own writes and waits for the disk, so that a slow one delays acknowledgements
 * but not heartbeats or queries.
 */
#pragma once

#include "common/bus/bus.h"

/* What the start found, and what was asked of it. */
struct group_start {
	uint64_t torn;        /* bytes that were cut */
	uint64_t accept_loss; /* as witness_check() wants it */
	uint64_t lost;        /* and said it; 0: none */
};

/* In the jail: the thread, and records that the daemon started and what loss it accepts. */
int group_open(const struct group_start *, struct err *);
/* After the last call has ended: a record that it stopped, and what is left, written and durable.
 */
void group_close(void);

/* Handler of audit_append. */
int group_append(struct call *, void *request, struct err *);
