/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - state of the HTTP server that its files share; web.c maintains it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web_counts {
	uint64_t connections, accepted, requests, refused_slow;
	size_t waiting; /* bytes of replies and events not read yet */
	size_t bodies;  /* bytes of memory for arriving bodies */
	size_t kept;    /* bytes of sent events, for clients that reconnect */
};

extern struct web_counts web_counts;

extern struct web_state {
	bool woken;    /* the library has work to do */
	bool draining; /* accept no connections and sessions */
	bool public;   /* the listening address is not loopback */
} web_state;
