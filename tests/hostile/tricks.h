/* SPDX-License-Identifier: Apache-2.0 */
/* tricks.h - what a daemon that was taken over may do instead of answering. */
#pragma once

#include "tests/hostile/line.h"

/* A request that came to it. */
struct asked {
	struct line *line;
	struct address from;
	uint64_t id;
	enum msg_id message;
};

struct trick {
	const char *name;
	unsigned weight; /* 0: only when it is asked for by name */
	void (*play)(struct dice *, const struct asked *);
};

extern const struct trick tricks[];
/* NULL: there is none of that name. */
const struct trick *trick_find(const char *name);
const struct trick *trick_choose(struct dice *);
/* So that an answer may go to another than who asked; before it is played on. */
void trick_remember(const struct asked *);
