/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers.h - headers of 2026-07-28 that repeat what a body says, so that who routes need not read
 * it: each must say the same as the body (basic/transports/streamable-http).
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"
#include "gateway/transport/http/request.h"

enum { HEADERS_MISMATCH = -32020 };

/* The version; version is that of the body.  NULL, or the answer that says what is wrong. */
json_t *headers_version(const struct http_request *, json_t *id, const char *version);
/* Mcp-Method, and Mcp-Name where the method has a name. */
json_t *headers_method(const struct http_request *, const struct rpc *);
/* Mcp-Param-*, for the arguments that the tool's schema marks with x-mcp-header. */
json_t *headers_params(const struct http_request *, const struct rpc *, const json_t *input_schema);

/* Is that the value, but for blanks around it? */
bool headers_is(const char *value, const char *text);
/* The text of a value, decoded from "=?base64?...?=" where it is that, of malloc; NULL: malformed.
 */
char *headers_decode(const char *value);
/* Does the value say the same as a string, integer or boolean of the body? */
bool headers_says(const char *value, const json_t *member);
