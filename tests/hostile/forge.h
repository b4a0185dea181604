/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forge.h - messages that follow the table, its bounds, or nothing.
 *
 * Messages that a decoder accepts are the more dangerous kind: each text may be any UTF-8, each
 * number at its bound, each list empty or full.
 */
#pragma once

#include "common/codec/wire.h"

#include "tests/hostile/dice.h"

enum forge {
	FORGE_plain,  /* as an honest daemon might send it */
	FORGE_edge,   /* permitted, but the least expected values */
	FORGE_broken, /* about every sixth value breaks its field's rules */
	FORGE_full,   /* all fields as large as permitted */
	FORGE_COUNT
};

enum {
	FORGE_SMALL = 1 << 18, /* approximate bytes of a message */
	FORGE_LARGE = 60 << 20,
};

/* The caller clears *out. */
void forge_message(struct dice *, enum msg_id, enum forge, size_t budget, struct packed *out);
/* A text of at most size bytes that a reader may print, open, split or pass on. */
const char *forge_text(struct dice *, size_t size);
