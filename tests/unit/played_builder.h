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

/* What the builder is asked. */
struct played_builder {
	struct builder_request *box,
	    *program; /* the test's to free, when it says that they ended */
	int control;  /* the program's end */
	unsigned begun, asked, kills;
	int signal;
	bool deaf;
};

extern struct played_builder builder;
