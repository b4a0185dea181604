/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the endpoint /mcp: finds the revision of a POST, and its session if it has one.
 *
 * The body decides.  A request that claims a version in _meta is served by that revision, without
 * a session.  All others belong to the revisions that begin with initialize.
 */
#pragma once

#include "gateway/transport/http/exchange.h"

void mcp_post(struct http_request *);
void mcp_get(struct http_request *);
void mcp_delete(struct http_request *);
/* Says what a page of another origin may send (CORS).  Its origin was checked before. */
void mcp_options(struct http_request *);

/* The operation of a parsed message, for metrics; its texts come from closed sets. */
struct operation mcp_operation(json_t *message);
/* Calls serve() with the body's JSON, now or, if the body is long, later; or replies. */
void mcp_parse(struct http_request *, void (*serve)(struct http_request *, json_t *message));
