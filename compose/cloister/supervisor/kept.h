/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - descriptors that a daemon wants to find again when it is started anew: the file
 * descriptor store of sd_notify(3).
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum {
	KEPT_MAX = 4, /* of one daemon */
	KEPT_NAME = 32,
};

/* Zeroed: empty. */
struct kept {
	size_t count;
	struct kept_one {
		char name[KEPT_NAME];
		int fd;
	} all[KEPT_MAX];
};

/* Takes the descriptor: keeps it, or closes it where there is no room or no such name is allowed.
 */
void kept_add(struct kept *, const char *name, int fd);
/* All of that name. */
void kept_remove(struct kept *, const char *name);
void kept_clear(struct kept *);

/* Once, before children are made: the variables by which they are told of it. */
void kept_announce(void);
/* Before the fork: what they say to the next child. */
void kept_describe(const struct kept *, size_t max);
/* Between fork and exec: from descriptor 3 on. */
int kept_hand_over(const struct kept *);
