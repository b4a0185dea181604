/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - group commit: what arrives while the disk is busy becomes durable together.
 *
 * A thread of its own writes and waits for the disk, so that a slow one delays acknowledgements
 * but not heartbeats or queries.
 */
#pragma once

#include "common/bus/bus.h"

/* In the jail: the thread, and a record that the daemon started. */
int group_open(uint64_t torn, struct err *);
/* After the last call has ended: a record that it stopped, and what is left, written and durable.
 */
void group_close(void);

/* Handler of audit_append. */
int group_append(struct call *, void *request, struct err *);
