/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - CURVE keys in a folder: <daemon>.key, secret, and <daemon>.pub for each; Z85, a line. */
#pragma once

#include "common/base/err.h"
#include "common/table/edges.h"

enum {
	KEYS_TEXT = 41, /* 40 characters of Z85 and a zero byte */
};

struct keys {
	char secret[KEYS_TEXT], public[KEYS_TEXT];
	char peers[PEER_COUNT][KEYS_TEXT]; /* "" where there is no edge to it */
};

/* The keys that self needs; refuses a secret that others than its owner can read. */
int keys_load(const char *folder, enum peer self, struct keys *, struct err *);
void keys_clear(struct keys *);
/* Makes those that are missing; a public half is always that of the secret beside it. */
int keys_make(const char *folder, struct err *);
