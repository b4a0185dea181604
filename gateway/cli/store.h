/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - descriptors that a daemon wants to find again when it is started anew: the file
 * descriptor store of sd_notify(3).
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum {
	STORE_MAX = 4, /* of one daemon */
	STORE_NAME = 32,
};

/* Zeroed: empty. */
struct store {
	size_t count;
	struct stored {
		char name[STORE_NAME];
		int fd;
	} all[STORE_MAX];
};

/* Takes the descriptor: keeps it, or closes it where there is no room or no such name is allowed.
 */
void store_add(struct store *, const char *name, int fd);
/* All of that name. */
void store_remove(struct store *, const char *name);
void store_clear(struct store *);

/* Once, before children are made: the variables by which they are told of it. */
void store_announce(void);
/* Before the fork: what they say to the next child. */
void store_describe(const struct store *, size_t max);
/* Between fork and exec: from descriptor 3 on. */
int store_hand_over(const struct store *);
