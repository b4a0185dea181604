/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - throttles addresses that fail to authenticate.
 *
 * After THROTTLE_MOST failures an address must wait; one strike expires every STRIKE_MS.  The table
 * has a fixed size.  If two addresses share a slot, the one with more strikes keeps it.
 */
#pragma once

#include <stdint.h>

enum {
	THROTTLE_MOST = 20,
	STRIKE_MS = 3000,
};

/* address: numeric IPv4, or IPv6, where a /64 counts as one address.  All other texts count as
 * one address. */
/* Counts a failure and returns the current number of strikes. */
unsigned throttle_add(const char *address, int64_t now_ms);
/* 0, or how many milliseconds this address must wait. */
int throttle_wait(const char *address, int64_t now_ms);
void throttle_clear(void);
