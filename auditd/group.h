/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - group commit: records that arrive while the disk is busy become durable together.
 *
 * A separate thread writes and waits for the disk, so that a slow disk delays acknowledgements but
 * not heartbeats or queries.
 */
#pragma once

#include "common/bus/bus.h"

/* Findings of the start, and the setting that it was given. */
struct group_start {
	uint64_t torn;        /* bytes cut off the tail */
	uint64_t accept_loss; /* see witness_check() */
	uint64_t lost;        /* number of the checkpoint whose loss was accepted; 0: none */
};

/* In the jail: starts the thread.  Records the start, and which loss was accepted. */
int group_open(const struct group_start *, struct err *);
/* After the last call has ended: records the stop, and writes everything left durably. */
void group_close(void);

/* Handler of audit_append. */
int group_append(struct call *, void *request, struct err *);
