/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.c - the table of methods, and what follows from it.
 *
 * Sources: the message unions of each revision's schema; server/discover, basic/lifecycle.
 */
#include "gateway/mcp/method.h"

#include "gateway/mcp/extra.h"
#include "gateway/mcp/handlers.h"

#include "common/credential/scope.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	FIXED_MS = 300000, /* what changes only when the gateway is started anew */
	MOVING_MS = 1000,  /* what changes with every call */
};

#define PUBLIC \
	{ \
		FIXED_MS, "public" \
	}
#define PRIVATE \
	{ \
		MOVING_MS, "private" \
	}
#define UNKEPT \
	{ \
		0, NULL \
	}

/* clang-format off */
static const struct method methods[] = {
	{ "completion/complete",      ERA_ALL,                handle_complete,           UNKEPT },
	{ "initialize",               ERA_FIRST | ERA_LEGACY, handle_initialize,         UNKEPT },
	{ "logging/setLevel",         ERA_LEGACY,             handle_set_level,          UNKEPT },
	{ "ping",                     ERA_FIRST | ERA_LEGACY, handle_ping,               UNKEPT },
	{ "prompts/get",              ERA_ALL,                handle_prompts_get,        UNKEPT },
	{ "prompts/list",             ERA_ALL,                handle_prompts_list,       PUBLIC },
	{ "resources/list",           ERA_ALL,                handle_resources_list,     PRIVATE },
	{ "resources/read",           ERA_ALL,                handle_resources_read,     PRIVATE },
	{ "resources/subscribe",      ERA_LEGACY,             handle_subscribe,          UNKEPT },
	{ "resources/templates/list", ERA_ALL,                handle_templates_list,     PUBLIC },
	{ "resources/unsubscribe",    ERA_LEGACY,             handle_unsubscribe,        UNKEPT },
	{ "server/discover",          ERA_MODERN,             handle_discover,           PUBLIC },
	{ "subscriptions/listen",     ERA_MODERN,             handle_listen,             UNKEPT },
	{ "tasks/cancel",             ERA_MODERN,             handle_tasks_cancel,       UNKEPT },
	{ "tasks/get",                ERA_MODERN,             handle_tasks_get,          UNKEPT },
	{ "tasks/update",             ERA_MODERN,             handle_tasks_update,       UNKEPT },
	{ "tools/call",               ERA_ALL,                handle_tools_call,         UNKEPT },
	{ "tools/list",               ERA_ALL,                handle_tools_list,         PUBLIC },
};

/* What is said to be there where that method is. */
static const struct {
	const char *method, *capability, *flag;
} offers[] = {
	{ "tools/list",           "tools",       NULL },
	{ "resources/list",       "resources",   NULL },
	{ "resources/list",       "resources",   "listChanged" },
	{ "resources/subscribe",  "resources",   "subscribe" },
	{ "subscriptions/listen", "resources",   "subscribe" },
	{ "prompts/list",         "prompts",     NULL },
	{ "completion/complete",  "completions", NULL },
	{ "tools/call",           "logging",     NULL },
	{ "tasks/get",            "extensions",  ERA_META "tasks" },
};
/* clang-format on */

static const struct extra none, *extra = &none;

void
extra_set(const struct extra *more)
{
	extra = more;
}

const struct extra *
extra_get(void)
{
	return extra;
}

const struct method *
method_find(const char *name, const struct era *era)
{
	unsigned bit = era == NULL ? ERA_FIRST : era->bit;

	for (const struct method *m = methods; m < methods + COUNT(methods); m++)
		if ((m->eras & bit) != 0 && strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* Tools and prompts of a release stay what they are as long as it runs. */
static void
add_changes(json_t *capabilities)
{
	if (extra->tools != NULL)
		json_object_set_new(
		    json_object_get(capabilities, "tools"), "listChanged", json_true());
	if (extra->prompts != NULL)
		json_object_set_new(
		    json_object_get(capabilities, "prompts"), "listChanged", json_true());
}

json_t *
method_capabilities(const struct era *era)
{
	json_t *all = json_object();

	for (size_t i = 0; i < COUNT(offers); i++) {
		bool extension = strcmp(offers[i].capability, "extensions") == 0;

		if (method_find(offers[i].method, era) == NULL)
			continue;
		if (json_object_get(all, offers[i].capability) == NULL)
			json_object_set_new(all, offers[i].capability, json_object());
		if (offers[i].flag != NULL)
			json_object_set_new(json_object_get(all, offers[i].capability),
			    offers[i].flag, extension ? json_object() : json_true());
	}
	add_changes(all);
	return all;
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
	return answer(r, result == NULL ? NULL : era_finish(r->origin.era, result, cache));
}

/* What depends on credentials, or may, is for their holder only. */
json_t *
method_finish(const struct request *r, json_t *result)
{
	struct cache cache = r->method->cache;

	if (cache.scope != NULL && r->origin.client->scopes != SCOPES_LOCAL)
		cache.scope = "private";
	return result == NULL ? NULL : era_finish(r->origin.era, result, &cache);
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
	    r->origin.era->modern ? RPC_CAPABILITY : RPC_INVALID,
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
