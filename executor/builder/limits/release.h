/* SPDX-License-Identifier: Apache-2.0 */
/*
 * release.h - lets go of what a guest has filled.
 *
 * Whoever closes the last descriptor of a tmpfs frees all that is in it before the call returns:
 * 100 ms of 60,000 empty files.  So that nobody else waits, a process of its own is the last that
 * has one which is full.
 */
#pragma once

#include <stddef.h>

enum {
	RELEASE_FDS = 2,
};

/* Closes them; those that are -1 are none.  The first is of the tmpfs that goes with the last of
 * them.  What is not free yet when this returns has a bound. */
void release_close(const int *fds, size_t n);
