/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - queues frames to a program, which may be slow to read them (program.c, control.c). */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"
#include "executor/guest/protocol.h"

struct control {
	int fd;               /* -1: closed, or the program broke the protocol */
	struct blob outgoing; /* frames to the program */
	size_t sent;          /* of outgoing */
	bool full;            /* the channel had no room at the last write */
	bool secret;          /* outgoing has secrets: it is overwritten before it is freed */
};

/* *far is the program's end, owned by the caller; ready: as in loop_watch(). */
int control_open(struct control *, int *far, void (*ready)(void *self, uint32_t events), void *self,
    struct err *);
/* Stops reading and writing; unsent frames are dropped. */
void control_close(struct control *);
/* Reserves room for a frame after the unsent ones and writes its head.  limit_exceeded. */
uint8_t *control_add(struct control *, enum guest_frame, size_t, struct err *);
/* Adds a frame for each secret; NULL: none.  The frames are overwritten after they were sent. */
int control_add_secrets(struct control *, const struct vault_values *, struct err *);
/* Sends what the channel has room for, and the rest when it is writable again. */
void control_send(struct control *);
