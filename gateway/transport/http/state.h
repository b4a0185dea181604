/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what the files of the HTTP server know of it as a whole; web.c says what holds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web_counts {
	uint64_t connections, accepted, requests, refused_slow;
	size_t waiting; /* bytes of answers and events that clients did not read yet */
	size_t bodies;  /* bytes of memory for requests' bodies that arrive */
	size_t kept;    /* bytes of events that were sent, for clients that come back */
};

extern struct web_counts web_counts;

extern struct web_state {
	bool woken;    /* there is something for the library to do */
	bool draining; /* no more connections and sessions */
	bool public;   /* the address listened on reaches beyond this machine */
} web_state;
