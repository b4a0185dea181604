/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - GET /events: the caller's events as server-sent events, as they become durable.
 *
 * The id of an event is its number in the audit log.  A client that reconnects with Last-Event-ID,
 * here or at another gateway, gets everything after it.
 */
#pragma once

#include "gateway/transport/http/request.h"

void events_get(struct http_request *);
/* Ends all streams of events. */
void events_drain(void);
