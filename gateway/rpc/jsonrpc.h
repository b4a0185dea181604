/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonrpc.h - JSON-RPC 2.0 as MCP restricts it: parsing of lines, and construction of replies.
 *
 * Lines come from an untrusted client.  Integers keep every digit.  Repeated keys, invalid UTF-8,
 * half surrogate pairs and values beyond the bounds of scan.h are refused.
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
	/* codes of MCP */
	RPC_CAPABILITY = -32021, /* MissingRequiredClientCapability */
	RPC_VERSION = -32022,    /* UnsupportedProtocolVersion */
	RPC_ABSENT = -32002,     /* resource not found, before 2026-07-28 */
};

enum rpc_kind {
	RPC_request,
	RPC_notification,
	RPC_response, /* to a request of the gateway; its id may be anything */
};

/* A view of a parsed message, from which all members are borrowed. */
struct rpc {
	enum rpc_kind kind;
	json_t *id; /* string or integer; NULL: none */
	const char *method;
	json_t *params;         /* object, or NULL */
	json_t *result, *error; /* of a response */
};

/* The JSON of a line, a new reference; or NULL, and *answer is the error reply. */
json_t *jsonrpc_parse(const struct line *, json_t **answer);
/* Reads one message.  Returns NULL, or the error reply to an invalid message, which may be a
 * notification. */
json_t *jsonrpc_read(json_t *message, struct rpc *);

/*
 * New messages; NULL only if memory is exhausted.  id NULL: the reply has no id, because the
 * message's id could not be read (MCP's schema; null would violate it).  result, data and params
 * are taken.
 */
json_t *jsonrpc_result(json_t *id, json_t *result);
json_t *jsonrpc_error(json_t *id, int code, const char *fmt, ...) PRINTF(3, 4);
json_t *jsonrpc_error_data(json_t *id, int code, const char *text, json_t *data);
json_t *jsonrpc_notification(const char *method, json_t *params);
