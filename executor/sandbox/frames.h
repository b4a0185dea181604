/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h - the claims of a guest on its control channel (guest/protocol.h), bounded and
 * checked. */
#pragma once

#include "executor/guest/protocol.h"
#include "executor/sandbox/box.h"

struct frames {
	uint8_t head[5];
	size_t have; /* bytes of the head, then of the payload */
	bool in_payload;
	uint32_t size;
	uint8_t *payload; /* NULL: this frame is not kept */
	struct blob result;
	struct texts variables;
	char *error_type, *error_text;
	uint64_t error_line;
	bool unreadable;
	struct box_rich rich[GUEST_MAX_RICHES];
	size_t nrich;
	bool muted;
	bool idle; /* the guest sent IDLE */
	bool done; /* the statement has ended; see status */
	bool left; /* other processes did not end with the program */
	int status;
};

/* -1: the peer broke the protocol.  Later frames cannot be delimited, so read no more. */
int frames_feed(struct frames *, const void *data, size_t size);
/* While muted, no frame is kept, not even a partial one.  Between two runs nobody uses them, and
 * kept frames would hold memory of this process for as long as the session lives. */
void frames_mute(struct frames *, bool muted);
/* Moves the complete frames to *end and resets the state for the next run. */
void frames_take(struct frames *, struct box_end *);
void frames_clear(struct frames *);
