/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forge.h - messages that keep to the table, to its bounds, or to nothing.
 *
 * What is taken for good by a decoder is the more dangerous kind: each text may be anything that is
 * UTF-8, each number at its bound, each list empty or full.
 */
#pragma once

#include "common/codec/wire.h"

#include "tests/hostile/dice.h"

enum forge {
	FORGE_plain,  /* as an honest daemon might say it */
	FORGE_edge,   /* of the allowed, what is least expected */
	FORGE_broken, /* about every sixth value breaks its field's rules */
	FORGE_full,   /* as much of everything as there may be */
	FORGE_COUNT
};

enum {
	FORGE_SMALL = 1 << 18, /* bytes of a message, about */
	FORGE_LARGE = 60 << 20,
};

/* The caller clears *out. */
void forge_message(struct dice *, enum msg_id, enum forge, size_t budget, struct packed *out);
/* A text of at most size bytes that somebody may print, open, split or send on. */
const char *forge_text(struct dice *, size_t size);
