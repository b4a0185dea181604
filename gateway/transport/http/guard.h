/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - which requests are let in: where they come from, whose they are, how long and how many.
 *
 * A browser that a hostile page has resolved to this machine sends its own Host and Origin (DNS
 * rebinding), so both are checked also on loopback.
 */
#pragma once

#include "gateway/transport/http/request.h"

#include <jansson.h>

/* Before the jail: are the settings such that this may be served at all? */
int guard_open(struct err *);
/* Before all else: is it clear where a request of that version ends?  Otherwise it has replied, and
 * what comes behind is not read.  Both texts as the library gave them, which are in its buffer. */
bool guard_frames(struct http_request *, const char *method, const char *version);
/* At a request's head: fills in its account, or replies. */
void guard_request(struct http_request *);
/* Once its account is known: may that have one more connection?  Otherwise it has replied. */
bool guard_connects(struct http_request *);
/* Replies to one whose body is too long. */
void guard_too_large(struct http_request *);
/* Replies to one whose body finds no room beside others'. */
void guard_busy(struct http_request *);

/* Has who asks these scopes (of auth/scope.h)?  Otherwise it has replied. */
bool guard_allows(struct http_request *, unsigned needed);
/* Has who asks the scopes for that message, or all of that batch?  Otherwise it has replied.  Each
 * message of a batch counts as a request. */
bool guard_permits(struct http_request *, json_t *message);
/* May the answer be of that media type, as the Accept header says? */
bool guard_accepts(const struct http_request *, const char *type);
/* Replies with a JSON-RPC error of no request, whose text says what is wrong. */
void guard_refuse(struct http_request *, unsigned status, const struct header *headers,
    const char *fmt, ...) PRINTF(4, 5);
/* Replies with a message, taken. */
void guard_reply_json(
    struct http_request *, unsigned status, json_t *, const struct header *headers);
