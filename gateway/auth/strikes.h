/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strikes.h - addresses that failed to say who they are, and for how long they are not listened to.
 *
 * Who has failed STRIKES_MOST times must wait, a strike is forgotten every STRIKE_MS.  The table is
 * of a fixed size: of addresses that share a place the one with more strikes keeps it.
 */
#pragma once

#include <stdint.h>

enum {
	STRIKES_MOST = 20,
	STRIKE_MS = 3000,
};

/* address: numeric IPv4 or IPv6, of which a /64 counts as one; anything else is one address. */
/* Counts a failure; how many there are now. */
unsigned strikes_add(const char *address, int64_t now_ms);
/* 0, or how long this address must wait. */
int strikes_wait(const char *address, int64_t now_ms);
void strikes_clear(void);
