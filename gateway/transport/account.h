/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - principals: the owners of objects and, over HTTP, the work that they have in
 * progress and their request rate. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all clients of one principal have in progress together. */
struct account {
	const char *principal; /* as the transport authenticated it */
	const char *namespace; /* of the credentials; NULL: none */
	size_t count, held;    /* calls; bytes of their messages */
	size_t listening;      /* bytes of the names that it listens for, see listen.c */
	/* Over HTTP, counted against shared limits; see account_room(). */
	size_t connections, sessions; /* how many */
	size_t bodies, waiting;       /* bytes: of arriving requests; of unread output */
	size_t kept; /* bytes of sent events for clients that reconnect; see session.h */
};

/* Whether the account is that of the principal in that namespace (NULL: none). */
bool account_is(const struct account *, const char *principal, const char *namespace);
/* The account of a principal, held until it is released; namespace may be NULL.  NULL: no
 * memory. */
struct account *account_hold(const char *principal, const char *namespace);
struct account *account_share(struct account *);
void account_release(struct account *);
/* 0 if one more request may be served now, or the milliseconds until then. */
int64_t account_wait_ms(struct account *, int64_t now_ms);
/* Charges further requests that are served at once; later requests wait for them. */
void account_charge(struct account *, size_t requests, int64_t now_ms);
/* How much more of a shared limit a principal that holds `mine` may take, if `used` is taken in
 * total.  It never gets more than what then remains for all others, so that no principal takes
 * everything.  With anonymous access all clients are one principal, which may take all that
 * remains. */
size_t account_room(size_t mine, size_t limit, size_t used);
/* Forgets accounts that own nothing and whose rate has recovered. */
void account_sweep(int64_t now_ms);
