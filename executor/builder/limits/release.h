/* SPDX-License-Identifier: Apache-2.0 */
/*
 * release.h - frees tmpfs contents without blocking.
 *
 * The process that closes the last descriptor of a tmpfs frees all its contents before the call
 * returns: 100 ms for 60,000 empty files.  So that no other work waits for this, a separate
 * process holds the last descriptor of a full tmpfs.
 */
#pragma once

#include <stddef.h>

enum {
	RELEASE_FDS = 2,
};

/* Closes the descriptors.  A descriptor of -1 is skipped.  The first one belongs to the tmpfs
 * that is freed when the last of them is closed.  The amount not yet freed when this returns is
 * bounded. */
void release_close(const int *fds, size_t n);
