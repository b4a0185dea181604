/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h - what a guest claims over its control channel (guest/protocol.h), bounded and checked.
 */
#pragma once

#include "executor/guest/protocol.h"
#include "executor/sandbox/box.h"

struct frames {
	uint8_t head[5];
	size_t have; /* of head, then of payload */
	bool in_payload;
	uint32_t size;
	uint8_t *payload; /* NULL: of a frame that is not kept */
	struct blob result;
	struct texts variables;
	char *error_type, *error_text;
	uint64_t error_line;
	bool unreadable;
	struct box_rich rich[GUEST_MAX_RICHES];
	size_t nrich;
	bool muted;
	bool idle; /* it said so */
	bool done; /* the statement is over, and status says how */
	int status;
};

/* -1: this is not the protocol; nothing after it can be told apart, so read no more. */
int frames_feed(struct frames *, const void *data, size_t size);
/* Muted, nothing is kept of what comes, nor of a frame that is not whole: between two runs there is
 * nobody to be told, and what is kept takes this process's memory for as long as a session lives.
 */
void frames_mute(struct frames *, bool muted);
/* Moves what came whole to *end, and is ready for the claims of the next run. */
void frames_take(struct frames *, struct box_end *);
void frames_clear(struct frames *);
