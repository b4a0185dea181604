/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - which requests are accepted: by host and origin, credentials, size and rate.
 *
 * A hostile web page can resolve its name to this machine (DNS rebinding).  The browser then sends
 * the page's own Host and Origin, so both are checked, also on loopback.
 */
#pragma once

#include "gateway/transport/http/request.h"

#include <jansson.h>

/* Call before entering the jail.  Fails if the settings do not allow serving. */
int guard_open(struct err *);
/* Call first.  Whether it is clear where a request of that version ends.  If not, it has
 * replied, and nothing after the request is read.  Both texts are the library's, in its buffer. */
bool guard_frames(struct http_request *, const char *method, const char *version);
/* At the end of a request's head: sets its account, or replies. */
void guard_request(struct http_request *);
/* Sets the account of a request by its credentials, which may come at its rate.  If not, it has
 * replied. */
bool guard_knows(struct http_request *);
/* Call once its account is known: whether that may have one more connection.  If not, it has
 * replied. */
bool guard_connects(struct http_request *);
/* Replies to a request whose body is too long. */
void guard_too_large(struct http_request *);
/* Replies to a request whose body does not fit beside others. */
void guard_busy(struct http_request *);

/* Whether the caller has these scopes (auth/scope.h).  If not, it has replied. */
bool guard_allows(struct http_request *, unsigned needed);
/* Whether the caller has the scopes for that message, or for all of that batch.  If not, it has
 * replied.  Each message of a batch counts as a request. */
bool guard_permits(struct http_request *, json_t *message);
/* Whether the Accept header allows a reply of that media type. */
bool guard_accepts(const struct http_request *, const char *type);
/* Replies with a JSON-RPC error without an id, whose text gives the reason. */
void guard_refuse(struct http_request *, unsigned status, const struct header *headers,
    const char *fmt, ...) PRINTF(4, 5);
/* Replies with a message and takes it. */
void guard_reply_json(
    struct http_request *, unsigned status, json_t *, const struct header *headers);
