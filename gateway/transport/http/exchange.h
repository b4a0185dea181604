/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - a POST to /mcp and its reply: the transport in struct client's terms.
 *
 * The reply is a single JSON body if nothing is sent before it.  Otherwise, if the client accepts
 * that, it is the last event of a stream.
 */
#pragma once

#include "gateway/transport/client.h"
#include "gateway/transport/http/metrics.h"
#include "gateway/transport/http/request.h"

struct session;

/*
 * Begins the exchange of a request, with a client of its own (session NULL) or with a session's.
 * NULL: no memory.  The caller then calls dispatch_message() with exchange_client().
 */
struct exchange *exchange_open(struct http_request *, struct session *, const struct operation *);
struct client *exchange_client(struct exchange *);
/* How many more unread bytes a principal may have. */
size_t exchange_room(const struct account *);
/*
 * Its reply is one body, which the function writes: the text, allocated with malloc, its size and
 * the HTTP status; NULL: over the limit.
 */
typedef char *exchange_show(
    struct http_request *, const json_t *message, size_t limit, unsigned *status, size_t *size);
void exchange_shows(struct exchange *, exchange_show *);
/* The exchange makes the session: its reply carries the session's id. */
void exchange_introduces(struct exchange *);

extern const struct transport exchange_transport;

/* Ends exchanges that do not end by themselves. */
void exchange_drain(void);
