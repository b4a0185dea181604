/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve.h - memory that large replies take, reserved before it is used.
 *
 * A request for many bytes is begun only when they are reserved; until then it waits in a queue, as
 * the request that it is.  The bytes of one principal in a namespace are bounded, and those of all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	RESERVE_EACH = 64 << 20, /* of one principal in a namespace: one file of the largest size */
	RESERVE_ALL = 2 * RESERVE_EACH,
};

/* From { 0 }; the texts are borrowed until it is released. */
struct reservation {
	const char *principal, *namespace; /* namespace NULL: none */
	size_t bytes;                      /* more than RESERVE_EACH counts as that many */
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
/* For bytes that are there already: at once, past the queue, or not at all. */
bool reserve_try(struct reservation *);
/* Gives the bytes back, or leaves the queue; nothing where it has neither. */
void reserve_release(struct reservation *);
