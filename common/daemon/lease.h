/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h - what `cloister serve` and its gateway tell each other about the lease on the daemons.
 *
 * One datagram for each, over the socket pair whose end is the gateway's setting lease.  Another
 * text of `cloister serve` is the reason why it has no new lease.
 */
#pragma once

#define LEASE_HELD   "held"   /* to the gateway: the daemons run or are starting */
#define LEASE_LOST   "lost"   /* to the gateway: they have stopped */
#define LEASE_WANTED "wanted" /* to `cloister serve`: a call needs them */

enum { LEASE_BYTES = 256 }; /* more than the text of a struct err */
