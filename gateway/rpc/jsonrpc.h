/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonrpc.h - JSON-RPC 2.0 as MCP narrows it: what a line says, and messages to answer with.
 *
 * Lines come from a client that is not trusted.  Integers are kept to the last digit; a key given
 * twice, invalid UTF-8, half a surrogate pair and what is beyond the bounds of scan.h are refused.
 */
#pragma once

#include "gateway/rpc/lines.h"

#include "common/base/err.h"

enum {
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	/* of MCP */
	RPC_CAPABILITY = -32021, /* MissingRequiredClientCapability */
	RPC_VERSION = -32022,    /* UnsupportedProtocolVersion */
	RPC_ABSENT = -32002,     /* resource not found, before 2026-07-28 */
};

enum rpc_kind {
	RPC_request,
	RPC_notification,
	RPC_response, /* to what the client was asked; its id may be anything */
};

/* A view of a parsed message: all of it is borrowed from that. */
struct rpc {
	enum rpc_kind kind;
	json_t *id; /* string or integer; NULL where there is none */
	const char *method;
	json_t *params;         /* object, or NULL */
	json_t *result, *error; /* of a response */
};

/* The JSON of a line, a new reference; or NULL and in *answer the message that says what is wrong.
 */
json_t *jsonrpc_parse(const struct line *, json_t **answer);
/* Reads one message; NULL, or the answer to what is not one (where even that is for a
 * notification, too). */
json_t *jsonrpc_read(json_t *message, struct rpc *);

/*
 * New messages; NULL only when memory ran out.  id NULL: the answer to something whose id could not
 * be read, and has none (MCP's schema; null would break it).  result, data and params are taken.
 */
json_t *jsonrpc_result(json_t *id, json_t *result);
json_t *jsonrpc_error(json_t *id, int code, const char *fmt, ...) PRINTF(3, 4);
json_t *jsonrpc_error_data(json_t *id, int code, const char *text, json_t *data);
json_t *jsonrpc_notification(const char *method, json_t *params);
