/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - a POST to /mcp and what comes of it: the transport that struct client names.
 *
 * The answer is one JSON body where nothing is said before it, and otherwise, where the client
 * takes that, a stream of events of which it is the last.
 */
#pragma once

#include "gateway/transport/client.h"
#include "gateway/transport/http/metrics.h"
#include "gateway/transport/http/request.h"

struct session;

/*
 * Begins the exchange of a request: with a client of its own (session NULL), or with a session's.
 * NULL: no memory.  dispatch_message() to exchange_client() comes next.
 */
struct exchange *exchange_open(struct http_request *, struct session *, const struct operation *);
struct client *exchange_client(struct exchange *);
/* So many bytes more may wait for a principal. */
size_t exchange_room(const struct account *);
/* It makes the session: its answer tells the id. */
void exchange_introduces(struct exchange *);

extern const struct transport exchange_transport;

/* Ends what would not end by itself. */
void exchange_drain(void);
