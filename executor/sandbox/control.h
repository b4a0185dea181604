/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - frames to a program, which may be slow to read them (program.c, control.c). */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"
#include "executor/guest/protocol.h"

struct control {
	int fd;               /* -1: it ended, or broke the protocol */
	struct blob outgoing; /* frames to it */
	size_t sent;          /* of outgoing */
	bool full;            /* the channel, when it was last written to */
};

/* *far is the program's end, the caller's; ready: as of loop_watch(). */
int control_open(struct control *, int *far, void (*ready)(void *self, uint32_t events), void *self,
    struct err *);
/* Nothing more is read or written; what was not sent is dropped. */
void control_close(struct control *);
/* Room for a frame behind what is not sent yet; its head is written.  limit_exceeded. */
uint8_t *control_add(struct control *, enum guest_frame, size_t, struct err *);
/* As much as there is room for; when it is writable again, the rest. */
void control_send(struct control *);
