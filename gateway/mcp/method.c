/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.c - builds the answers of handlers; trusts nothing in a request.
 */
#include "gateway/mcp/method.h"

#include "gateway/mcp/icon.h"
#include "gateway/rpc/write.h"

#include "common/credential/scope.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

json_t *
method_server_info(const struct revision *revision)
{
	json_t *info = json_pack("{s:s, s:s}", "name", "cloister", "version", CLOISTER_VERSION);

	if (revision->structured)
		json_object_set_new(info, "title", json_string("cloister"));
	if (!revision->icons)
		return info;
	json_object_set_new(info, "description",
	    json_string("Runs code written by language models in kernel-isolated boxes."));
	icon_add(info, revision, ICON_server);
	return info;
}

/*
 * Part of each result: made once and shared by all, because nothing modifies it.  The icon is left
 * out: readers of a result have no use for it, and the server's own description has it.
 */
static json_t *
short_info(const struct revision *revision)
{
	static json_t *made[REVISION_BITS];
	json_t **info = &made[__builtin_ctz(revision->bit)];

	if (*info == NULL) {
		*info = method_server_info(revision);
		json_object_del(*info, "icons");
		write_constant(*info);
	}
	return json_incref(*info);
}

json_t *
method_end(const struct revision *revision, json_t *result, const struct cache *cache)
{
	if (!revision->modern)
		return result;
	if (json_object_get(result, "resultType") == NULL)
		json_object_set_new(result, "resultType", json_string("complete"));
	if (cache != NULL && cache->scope != NULL) {
		json_object_set_new(result, "ttlMs", json_integer(cache->ttl_ms));
		json_object_set_new(result, "cacheScope", json_string(cache->scope));
	}
	if (json_object_get(result, "_meta") == NULL)
		json_object_set_new(result, "_meta", json_object());

	json_t *meta = json_object_get(result, "_meta");

	if (json_object_get(meta, REVISION_META "serverInfo") == NULL)
		json_object_set_new(meta, REVISION_META "serverInfo", short_info(revision));
	return result;
}

bool
method_declared(const struct request *r, const char *capability, const char *extension)
{
	json_t *found = json_object_get(r->capabilities, capability);

	if (extension != NULL)
		found = json_object_get(found, extension);
	return json_is_object(found);
}

static json_t *
answer(const struct request *r, json_t *result)
{
	json_t *message = result == NULL ? NULL : jsonrpc_result(r->origin.id, result);

	return message != NULL ? message
	                       : jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
}

json_t *
method_complete_for(const struct request *r, json_t *result, const struct cache *cache)
{
	return answer(r, result == NULL ? NULL : method_end(r->origin.revision, result, cache));
}

/* Results that depend on credentials, or may, are private to their holder. */
json_t *
method_finish(const struct request *r, json_t *result)
{
	struct cache cache = r->method->cache;

	if (cache.scope != NULL && r->origin.client->scopes != SCOPES_LOCAL)
		cache.scope = "private";
	return result == NULL ? NULL : method_end(r->origin.revision, result, &cache);
}

json_t *
method_complete(const struct request *r, json_t *result)
{
	return answer(r, method_finish(r, result));
}

json_t *
method_refuse(const struct request *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return jsonrpc_error(r->origin.id, RPC_PARAMS, "Invalid params: %s", text);
}

json_t *
method_lacks(const struct request *r, json_t *capabilities)
{
	return jsonrpc_error_data(r->origin.id,
	    r->origin.revision->modern ? RPC_CAPABILITY : RPC_INVALID,
	    "Missing required client capability",
	    json_pack("{s:o}", "requiredCapabilities", capabilities));
}

const char *
method_text(const struct request *r, const char *name, json_t **answer)
{
	json_t *value = json_object_get(r->params, name);
	const char *text = json_string_value(value);

	if (text != NULL && strlen(text) == json_string_length(value))
		return text;
	*answer = method_refuse(
	    r, "%s must be a string%s", name, text == NULL ? "" : " without a zero byte");
	return NULL;
}
