/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.h - HTTP over libmicrohttpd, in the process's one loop.
 *
 * The library parses and frames; here is what it does not do: deadlines that a trickle of bytes
 * does not move, answers that come later, streams, and noticing that who waits has gone.  Nothing a
 * client sends is trusted.
 */
#pragma once

#include "gateway/transport/http/request.h"

struct web_counts {
	uint64_t connections, accepted, requests, refused_slow;
	size_t waiting; /* bytes of answers and events that clients did not read yet */
	size_t bodies;  /* bytes of memory for requests' bodies that arrive */
	size_t kept;    /* bytes of events that were sent, for clients that come back */
};

extern struct web_counts web_counts;

/* Before the jail: listens, reads the certificate.  Then within it. */
int web_open(struct err *);
int web_start(const struct http_route *, struct err *);
void web_stop(void);
/* No more connections and sessions; how many requests are still under way. */
size_t web_drain(void);
bool web_draining(void);
/* There is something for the library to do. */
void web_wake(void);
/* Does the address listened on reach beyond this machine? */
bool web_public(void);
/* "http://127.0.0.1:8765", as listened on. */
const char *web_url(void);
