/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - CURVE keys in a directory: <daemon>.key (secret) and <daemon>.pub for each; one line of
 * Z85. */
#pragma once

#include "common/base/err.h"
#include "common/table/edges.h"

enum {
	KEYS_TEXT = 41, /* 40 characters of Z85 and a zero byte */
};

struct keys {
	char secret[KEYS_TEXT], public[KEYS_TEXT];
	char peers[PEER_COUNT][KEYS_TEXT]; /* "" if there is no edge to it */
};

/* Loads the keys that self needs. Refuses a secret that others can read: its mode must be 0600, or
 * 0640 if root owns it. */
int keys_load(const char *directory, enum peer self, struct keys *, struct err *);
void keys_clear(struct keys *);
/* Makes the missing keys. A public key always belongs to the secret key in the same directory. */
int keys_make(const char *directory, struct err *);
