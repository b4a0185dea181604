/* SPDX-License-Identifier: Apache-2.0 */
/* played_builder.h - replaces the builder and its workspaces: records the requests, and leaves
 * the replies to the test. */
#pragma once

#include "executor/sandbox/builder_link.h"

struct builder_request {
	uint32_t id;
	struct builder_request_events events;
	void *self;
};

/* The requests to the builder. */
struct played_builder {
	struct builder_request *box, *program; /* freed by the test when it reports their end */
	int control;                           /* the program's end of the channel */
	int out;                               /* of its stdout */
	unsigned begun, asked, counted, kills;
	int signal;
	bool deaf;
};

extern struct played_builder builder;
