/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.h - HTTP with libmicrohttpd, in the process's one loop.
 *
 * The library parses and frames.  This adds what it lacks: deadlines that a trickle of bytes does
 * not extend, later replies, streams, and noticing a disconnected client.  Nothing a client sends
 * is trusted.
 */
#pragma once

#include "gateway/transport/http/request.h"

/* web_open() listens and reads the certificate before the jail.  The others run inside it. */
int web_open(struct err *);
int web_start(const struct http_route *, struct err *);
void web_stop(void);
/* Refuses new connections and sessions; returns how many requests are in progress. */
size_t web_drain(void);
/* The listening address, e.g. "http://127.0.0.1:8765". */
const char *web_url(void);
