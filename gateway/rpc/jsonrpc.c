/* SPDX-License-Identifier: Apache-2.0 */
/* jsonrpc.c - parses with all of Jansson's strict flags; trusts nothing. */
#include "gateway/rpc/jsonrpc.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/large.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static json_t *
refuse(const struct line *line, int code, const char *text)
{
	json_t *id = scan_id(line->scan);
	json_t *answer = jsonrpc_error(id, code, "%s", text);

	json_decref(id);
	return answer;
}

/* Valid JSON that exceeds a limit of the gateway; Jansson's own texts name no limit. */
static const struct {
	enum json_error_code code;
	const char *text;
} bounds[] = {
	{ json_error_numeric_overflow,
	    "; integers must be within -9223372036854775808 and 9223372036854775807, other numbers "
	    "within 1.79e308; send larger ones as strings" },
	{ json_error_null_byte_in_key, "; a name must not contain a zero byte" },
};

static const char *
bound_of(const json_error_t *error)
{
	for (size_t i = 0; i < COUNT(bounds); i++)
		if (json_error_code(error) == bounds[i].code)
			return bounds[i].text;
	return "";
}

/* No number in arguments ends more than a tool's call, or loses a digit. After a failure, *error
 * is about the line as it came. */
static json_t *
parse(const struct line *line, json_error_t *error)
{
	/* A zero byte in a text is valid JSON: the field that may not contain it is named later. */
	const size_t strict = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
	size_t size = line->size;
	auto_free char *hidden = large_hide(line->data, line->size, LARGE_ARGUMENTS, &size);
	json_t *message = json_loadb(hidden != NULL ? hidden : line->data, size, strict, error);

	if (message == NULL && hidden != NULL) {
		auto_free char *cut = large_cut(line->data, line->size, LARGE_ARGUMENTS);

		message = json_loadb(cut, line->size, strict, error);
	}
	return message;
}

json_t *
jsonrpc_parse(const struct line *line, json_t **answer)
{
	const char *refusal = scan_refusal(line->scan);
	char text[JSON_ERROR_TEXT_LENGTH + 256];
	json_error_t error;

	*answer = NULL;
	if (line->over || refusal != NULL) {
		if (line->over)
			snprintf(text, sizeof text,
			    "Invalid Request: the message is over the limit of %zu bytes "
			    "(max_message_bytes); send less, or split it",
			    line->limit);
		else
			snprintf(text, sizeof text, "Invalid Request: %s", refusal);
		*answer = refuse(line, RPC_INVALID, text);
		return NULL;
	}
	json_t *message = parse(line, &error);

	if (message == NULL) {
		snprintf(text, sizeof text, "Parse error: %s, at byte %d%s", error.text,
		    error.position, bound_of(&error));
		*answer = refuse(line, RPC_PARSE, text);
	}
	return message;
}

static const char *
read_id(json_t *message, struct rpc *rpc)
{
	json_t *id = json_object_get(message, "id");

	if (id == NULL)
		return NULL;
	if (!json_is_string(id) && !json_is_integer(id))
		return "id must be a string or an integer";
	if (json_string_length(id) > SCAN_MAX_ID)
		return "id is over the limit of 1024 bytes";
	rpc->id = id;
	return NULL;
}

static const char *
read_members(json_t *message, struct rpc *rpc)
{
	if (!json_is_object(message))
		return "a message must be an object";

	const char *version = json_string_value(json_object_get(message, "jsonrpc"));
	json_t *method = json_object_get(message, "method");

	/* Checked first, so that an error reply is never the answer to an error. */
	rpc->result = json_object_get(message, "result");
	rpc->error = json_object_get(message, "error");
	if (method == NULL && (rpc->result != NULL || rpc->error != NULL)) {
		rpc->kind = RPC_response;
		rpc->id = json_object_get(message, "id");
		return NULL;
	}
	const char *wrong = read_id(message, rpc);
	if (wrong != NULL)
		return wrong;
	rpc->kind = rpc->id == NULL ? RPC_notification : RPC_request;
	if (version == NULL || strcmp(version, "2.0") != 0)
		return "jsonrpc must be \"2.0\"";
	rpc->method = json_string_value(method);
	if (rpc->method == NULL || strlen(rpc->method) != json_string_length(method))
		return "method must be a string";
	return NULL;
}

json_t *
jsonrpc_read(json_t *message, struct rpc *rpc)
{
	*rpc = (struct rpc){ 0 };

	const char *wrong = read_members(message, rpc);

	if (wrong != NULL)
		return jsonrpc_error(rpc->id, RPC_INVALID, "Invalid Request: %s", wrong);
	rpc->params = json_object_get(message, "params");
	if (rpc->params != NULL && !json_is_object(rpc->params) && rpc->kind == RPC_request)
		return jsonrpc_error(
		    rpc->id, RPC_PARAMS, "Invalid params: params must be an object");
	if (!json_is_object(rpc->params))
		rpc->params = NULL;
	return NULL;
}

/* {"jsonrpc":"2.0","id":id,name:value}; takes value. */
static json_t *
respond(json_t *id, const char *name, json_t *value)
{
	json_t *message = json_object();

	if (json_object_set_new(message, "jsonrpc", json_string("2.0")) == 0 &&
	    (id == NULL || json_object_set(message, "id", id) == 0) &&
	    json_object_set(message, name, value) == 0) {
		json_decref(value);
		return message;
	}
	json_decref(value);
	json_decref(message);
	return NULL;
}

json_t *
jsonrpc_result(json_t *id, json_t *result)
{
	return respond(id, "result", result);
}

json_t *
jsonrpc_error_data(json_t *id, int code, const char *text, json_t *data)
{
	return respond(id, "error",
	    json_pack("{s:i, s:s, s:o*}", "code", code, "message", text, "data", data));
}

json_t *
jsonrpc_error(json_t *id, int code, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_tame(text); /* the text may cut a character of the client's input */
	return jsonrpc_error_data(id, code, text, NULL);
}

json_t *
jsonrpc_notification(const char *method, json_t *params)
{
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params);
}
