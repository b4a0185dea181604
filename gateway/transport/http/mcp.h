/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the endpoint /mcp: which revision of MCP a POST is of, and its session where it has one.
 *
 * The body decides: who claims a version in _meta is served by that alone; all else belongs to the
 * revisions that began with initialize.
 */
#pragma once

#include "gateway/transport/http/exchange.h"

void mcp_post(struct http_request *);
void mcp_get(struct http_request *);
void mcp_delete(struct http_request *);
/* What a page may send from elsewhere (CORS); where from was checked before. */
void mcp_options(struct http_request *);

/* Of a parsed message, for what is counted; texts of closed sets. */
struct operation mcp_operation(json_t *message);
/* Calls serve() with the JSON of a body, now or, where that is long, later; or replies. */
void mcp_parse(struct http_request *, void (*serve)(struct http_request *, json_t *message));
