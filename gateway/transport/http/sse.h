/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.h - HTTP with SSE as in 2024-11-05: GET /sse opens a session's only stream, whose first event
 * names where messages are posted; everything else goes on that stream.
 */
#pragma once

#include "gateway/transport/http/request.h"

void sse_get(struct http_request *);
void sse_post(struct http_request *);
