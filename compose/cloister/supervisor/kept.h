/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - descriptors stored for the next process of a daemon: the file descriptor store of
 * sd_notify(3).
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum {
	KEPT_MAX = 4, /* per daemon */
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

/* Takes the descriptor: stores it, or closes it if the store is full or the name is not allowed. */
void kept_add(struct kept *, const char *name, int fd);
/* Removes all descriptors of that name. */
void kept_remove(struct kept *, const char *name);
void kept_clear(struct kept *);

/* Call once, before children are started: sets the environment variables of the protocol. */
void kept_announce(void);
/* Call before the fork: sets the values of these variables for the next child. */
void kept_describe(const struct kept *, size_t max);
/* Call between fork and exec: places the descriptors from 3 on. */
int kept_hand_over(const struct kept *);
