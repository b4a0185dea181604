/* SPDX-License-Identifier: Apache-2.0 */
/* headers.c - compares headers with the body.  Both come from the client and are not trusted. */
#include "gateway/transport/http/headers.h"

#include "gateway/mcp/methods.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_NAME = 200,
	MAX_DEPTH = 16, /* of properties in one of our schemas */
};

static json_t *
mismatch(json_t *id, const char *name, const char *what)
{
	return jsonrpc_error(id, HEADERS_MISMATCH, "Header mismatch: %.200s %s", name, what);
}

/* ---- values ---- */

/* Trims blanks, which are not part of a value. */
static size_t
trim(const char **value)
{
	*value += strspn(*value, " \t");

	size_t n = strlen(*value);

	while (n > 0 && ((*value)[n - 1] == ' ' || (*value)[n - 1] == '\t'))
		n--;
	return n;
}

bool
headers_is(const char *value, const char *text)
{
	size_t n = trim(&value);

	return n == strlen(text) && memcmp(value, text, n) == 0;
}

char *
headers_decode(const char *value)
{
	static const char first[] = "=?base64?", last[] = "?=";
	size_t n = trim(&value), around = sizeof first - 1 + sizeof last - 1, size;

	if (n < around || strncmp(value, first, sizeof first - 1) != 0 ||
	    strncmp(value + n - (sizeof last - 1), last, sizeof last - 1) != 0)
		return strndup(value, n);

	char *text = malloc(n);

	if (text != NULL &&
	    sodium_base642bin((unsigned char *)text, n - 1, value + sizeof first - 1, n - around,
		NULL, &size, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
	    memchr(text, '\0', size) == NULL && utf8_valid(text, size)) {
		text[size] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

/* Compares by value: "7", "7.0" and "07" are the same, because clients' languages differ. */
static bool
same_integer(const char *text, json_int_t value)
{
	char *end;
	size_t whole = strspn(text, "+-0123456789");

	errno = 0;
	long long read = strtoll(text, &end, 10);

	if (end == text || errno != 0 || *text == ' ')
		return false;
	if (*end == '.' && end == text + whole)
		end += 1 + strspn(end + 1, "0");
	return *end == '\0' && read == value;
}

bool
headers_says(const char *value, const json_t *member)
{
	auto_free char *text = headers_decode(value);

	if (text == NULL)
		return false;
	switch (json_typeof(member)) {
	case JSON_STRING:
		return json_string_length(member) == strlen(text) &&
		       strcmp(json_string_value(member), text) == 0;
	case JSON_INTEGER:
		return same_integer(text, json_integer_value(member));
	case JSON_TRUE:
	case JSON_FALSE:
		return strcmp(text, json_is_true(member) ? "true" : "false") == 0;
	default:
		return false;
	}
}

/* ---- headers ---- */

/* Checks a header that must match the body; member NULL: the header must be absent. */
static json_t *
compare(const struct http_request *r, json_t *id, const char *name, const json_t *member)
{
	const char *value = request_header(r, name);

	if (value == NULL)
		return member == NULL ? NULL : mismatch(id, name, "is required but missing");
	if (request_repeats(r, name))
		return mismatch(id, name, "is repeated");
	if (member == NULL)
		return mismatch(id, name, "must be absent: the body has no such value");
	return headers_says(value, member) ? NULL : mismatch(id, name, "does not match the body");
}

json_t *
headers_version(const struct http_request *r, json_t *id, const char *version)
{
	static const char name[] = "MCP-Protocol-Version";
	const char *value = request_header(r, name);

	if (value == NULL)
		return mismatch(id, name, "is required but missing");
	if (request_repeats(r, name) || !headers_is(value, version))
		return mismatch(id, name, "does not match the body");
	return NULL;
}

json_t *
headers_method(const struct http_request *r, const struct rpc *rpc)
{
	const char *value = request_header(r, "Mcp-Method");

	if (value == NULL && rpc->kind == RPC_request)
		return mismatch(rpc->id, "Mcp-Method", "is required but missing");
	if (value != NULL && (request_repeats(r, "Mcp-Method") || !headers_is(value, rpc->method)))
		return mismatch(rpc->id, "Mcp-Method", "does not match the body");

	const char *named = methods_member(rpc->method);
	json_t *member = named == NULL ? NULL : json_object_get(rpc->params, named);

	/* If it is absent, the method's own error names it. */
	return json_is_string(member) ? compare(r, rpc->id, "Mcp-Name", member) : NULL;
}

/* ---- parameters ---- */

static json_t *
compare_properties(const struct http_request *r, json_t *id, const json_t *schema,
    const json_t *value, unsigned depth)
{
	json_t *each, *wrong = NULL;
	const char *name;

	if (depth > MAX_DEPTH)
		return NULL;
	json_object_foreach(json_object_get(schema, "properties"), name, each)
	{
		const char *marked = json_string_value(json_object_get(each, "x-mcp-header"));
		json_t *member = json_object_get(value, name);
		char header[MAX_NAME];

		if (wrong == NULL && marked != NULL) {
			snprintf(header, sizeof header, "Mcp-Param-%s", marked);
			wrong = compare(r, id, header, json_is_null(member) ? NULL : member);
		} else if (wrong == NULL) {
			wrong = compare_properties(r, id, each, member, depth + 1);
		}
	}
	return wrong;
}

json_t *
headers_params(const struct http_request *r, const struct rpc *rpc, const json_t *input_schema)
{
	return compare_properties(
	    r, rpc->id, input_schema, json_object_get(rpc->params, "arguments"), 0);
}
