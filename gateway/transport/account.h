/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - whose something is; of principals that come over HTTP, too, what they have under way
 * and how fast they ask. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all clients of one principal have under way together. */
struct account {
	const char *principal; /* as the transport authenticated it */
	const char *namespace; /* of the credentials; NULL: none */
	size_t count, held;    /* calls; bytes of their messages */
	size_t listening;      /* bytes of the names of what it wants to hear of, see listen.c */
	/* Over HTTP, of what all principals share; see account_room(). */
	size_t connections, sessions; /* how many */
	size_t bodies, waiting;       /* bytes: of requests that arrive; that are not read yet */
	size_t kept; /* bytes of events that were sent, for clients that come back; see session.h */
};

/* Is it that principal in that name space (NULL: none), so that what is one's is the other's? */
bool account_is(const struct account *, const char *principal, const char *namespace);
/* The account of a principal, held until it is released; namespace may be NULL.  NULL: no memory.
 */
struct account *account_hold(const char *principal, const char *namespace);
struct account *account_share(struct account *);
void account_release(struct account *);
/* May one more request be served?  0, or in how many milliseconds. */
int64_t account_wait_ms(struct account *, int64_t now_ms);
/* So many more are served at once, which those that come next wait for. */
void account_charge(struct account *, size_t requests, int64_t now_ms);
/* Of a limit that all principals share, of which so much is used: how much more may one have that
 * has `mine` of it?  Never more than is left to all others then, so that nobody takes it all; what
 * is left, where anybody may come in and all are one principal. */
size_t account_room(size_t mine, size_t limit, size_t used);
/* Forgets those that nothing belongs to any more, whose rate is back where a new one's begins. */
void account_sweep(int64_t now_ms);
