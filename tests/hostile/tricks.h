/* SPDX-License-Identifier: Apache-2.0 */
/* tricks.h - what a compromised daemon may do instead of replying. */
#pragma once

#include "tests/hostile/line.h"

/* A request that it received. */
struct asked {
	struct line *line;
	struct address from;
	uint64_t id;
	enum msg_id message;
};

struct trick {
	const char *name;
	unsigned weight; /* 0: only if requested by name */
	void (*play)(struct dice *, const struct asked *);
};

extern const struct trick tricks[];
/* NULL: no trick has that name. */
const struct trick *trick_find(const char *name);
const struct trick *trick_choose(struct dice *);
/* Call before the trick, so that a reply may go to another client than the one of the request. */
void trick_remember(const struct asked *);
