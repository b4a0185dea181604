/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers.h - headers of 2026-07-28 that repeat values of the body, so that routers need not parse
 * it.  Each must match the body (basic/transports/streamable-http).
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"
#include "gateway/transport/http/request.h"

enum { HEADERS_MISMATCH = -32020 };

/* Checks the version header against the body's version.  NULL, or the error reply. */
json_t *headers_version(const struct http_request *, json_t *id, const char *version);
/* Mcp-Method, and Mcp-Name where the method has a name. */
json_t *headers_method(const struct http_request *, const struct rpc *);
/* Mcp-Param-*, for the arguments that the tool's schema marks with x-mcp-header. */
json_t *headers_params(const struct http_request *, const struct rpc *, const json_t *input_schema);

/* Whether the value is that text, apart from blanks around it. */
bool headers_is(const char *value, const char *text);
/* The text of a value, decoded if it is "=?base64?...?=", allocated with malloc; NULL:
 * malformed. */
char *headers_decode(const char *value);
/* Whether the value matches a string, integer or boolean of the body. */
bool headers_says(const char *value, const json_t *member);
