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

/* Before the jail: listens, reads the certificate.  Then within it. */
int web_open(struct err *);
int web_start(const struct http_route *, struct err *);
void web_stop(void);
/* No more connections and sessions; how many requests are still under way. */
size_t web_drain(void);
/* "http://127.0.0.1:8765", as listened on. */
const char *web_url(void);
