/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.h - HTTP with SSE as in 2024-11-05.  GET /sse opens a session's only stream.  Its first
 * event has the address to post messages to; all replies go to the stream.
 */
#pragma once

#include "gateway/transport/http/request.h"

void sse_get(struct http_request *);
void sse_post(struct http_request *);
