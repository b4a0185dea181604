/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - the work that each owner has in progress and, over HTTP, its request rate. */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"

#include <stddef.h>
#include <stdint.h>

enum {
	ACCOUNT_RETRY_MS = 250, /* when a client that is over its limits may retry */
};

/* What all clients of one owner have in progress together. */
struct account {
	struct owner owner; /* as the transport authenticated it */
	size_t count, held; /* calls; bytes of their messages */
	size_t listening;   /* bytes of the names that it listens for, see listen.c */
	/* Over HTTP, counted against shared limits; see account_room(). */
	size_t connections, sessions; /* how many */
	size_t bodies, waiting;       /* bytes: of arriving requests; of unread output */
	size_t kept; /* bytes of sent events for clients that reconnect; see session.h */
};

/* The account of an owner, held until it is released.  NULL: no memory. */
struct account *account_hold(const struct owner *);
struct account *account_share(struct account *);
void account_release(struct account *);
/* 0 if one more request may be served now, or the milliseconds until then. */
int64_t account_wait_ms(struct account *, int64_t now_ms);
/* Charges further requests that are served at once; later requests wait for them. */
void account_charge(struct account *, size_t requests, int64_t now_ms);
/* 0 if one more call of a tool may be made now, and counts it; or the milliseconds until then.
 * Calls are spread evenly, after a burst of as many as in ten seconds. */
int64_t account_call_wait_ms(struct account *, uint64_t calls_per_minute, int64_t now_ms);
/* Whether one more call, whose message has that size, may begin.  queue_full. */
int account_admit(const struct account *, size_t bytes, struct err *);
/* How much more of a shared limit an owner that holds `mine` may take, if `used` is taken in
 * total.  It never gets more than what then remains for all others, so that no owner takes
 * everything.  With anonymous access all clients are one owner, which may take all that
 * remains. */
size_t account_room(size_t mine, size_t limit, size_t used);
/* Forgets accounts that own nothing and whose rate has recovered. */
void account_sweep(int64_t now_ms);
