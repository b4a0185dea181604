/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve.h - memory reservations for large replies.
 *
 * A request for many bytes starts only when they are reserved. Until then the request itself waits
 * in a queue, without the bytes. Reservations are bounded for each owner, and in total.
 */
#pragma once

#include "common/base/owner.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	RESERVE_EACH = 64 << 20, /* for one owner: one file of the maximum size */
	RESERVE_ALL = 2 * RESERVE_EACH,
};

/* Initialized with { 0 }. The owner is borrowed until the reservation is released. */
struct reservation {
	const struct owner *owner;
	size_t bytes; /* more than RESERVE_EACH counts as that many */
	void (*granted)(struct reservation *);
	/* of reserve.c */
	struct reservation *next;
	enum {
		RESERVE_NONE,
		RESERVE_HELD,
		RESERVE_WAITS,
	} state;
};

/* true: the bytes are reserved.  false: granted() is called later, from the loop. */
bool reserve_take(struct reservation *);
/* For bytes that are in memory already: bypasses the queue and succeeds or fails at once. */
bool reserve_try(struct reservation *);
/* Returns the bytes or leaves the queue; otherwise does nothing. */
void reserve_release(struct reservation *);
