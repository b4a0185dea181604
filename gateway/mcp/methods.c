/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.c - the table of methods, and look-ups in it; params come from clients and are not
 * trusted.
 *
 * Sources: the message unions of each revision's schema; server/discover, basic/lifecycle.
 */
#include "gateway/mcp/methods.h"

#include "gateway/mcp/handlers.h"
#include "gateway/mcp/providers.h"
#include "gateway/mcp/resource/resource.h"
#include "gateway/mcp/tools.h"

#include "common/base/auto.h"
#include "common/credential/scope.h"

#include <string.h>

enum {
	FIXED_MS = 300000, /* for results that change only when the gateway restarts */
	MOVING_MS = 1000,  /* for results that change with every call */
};

/* ---- the column "scope" ---- */

static const char *
member(const json_t *params, const char *name)
{
	return json_string_value(json_object_get(params, name));
}

static unsigned
scopes_none(const json_t *params)
{
	(void)params;
	return SCOPES_NONE;
}

static unsigned
scopes_read(const json_t *params)
{
	(void)params;
	return 1U << scope_read;
}

static unsigned
scopes_run(const json_t *params)
{
	(void)params;
	return 1U << scope_run;
}

static unsigned
scopes_vault(const json_t *params)
{
	(void)params;
	return 1U << scope_vault;
}

static unsigned
scopes_approve(const json_t *params)
{
	(void)params;
	return 1U << scope_approve;
}

/* A tool that is not offered is refused by name, whatever the credentials. */
static unsigned
scopes_tool(const json_t *params)
{
	const char *name = member(params, "name");
	enum msg_id tool = name == NULL ? MSG_none : tools_find(name);

	return tool == MSG_none ? SCOPES_NONE : scope_of_tool(tool);
}

static unsigned
scopes_resource(const json_t *params)
{
	const char *uri = member(params, "uri");

	return uri == NULL ? scopes_read(params) : resource_scopes(uri);
}

/* ---- notifications ---- */

static void
notice_cancelled(struct client *client, const json_t *params)
{
	client_cancel(client, json_object_get(params, "requestId"));
}

static void
notice_ignored(struct client *client, const json_t *params)
{
	(void)client;
	(void)params;
}

/* ---- the table ---- */

/* clang-format off */
#define PUBLIC { FIXED_MS, "public" }
#define PRIVATE { MOVING_MS, "private" }
#define UNKEPT { 0, NULL }

static const struct method methods[] = {
#define METHOD(name, revisions, handler, scope, member, cache, capability, flag) \
	{ name, revisions, handle_##handler, scopes_##scope, member, cache, capability, flag },
#define NOTIFICATION(...)
#include "gateway/methods.def"
};

static const struct {
	const char *name;
	void (*handle)(struct client *, const json_t *params);
} notifications[] = {
#define METHOD(...)
#define NOTIFICATION(name, handler) { name, notice_##handler },
#include "gateway/methods.def"
};
/* clang-format on */

static const struct method *
find(const char *name)
{
	for (const struct method *m = methods; m < methods + COUNT(methods); m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

const struct method *
methods_find(const char *name, const struct revision *revision)
{
	unsigned bit = revision == NULL ? REVISION_FIRST : revision->bit;
	const struct method *m = find(name);

	return m != NULL && (m->revisions & bit) != 0 ? m : NULL;
}

unsigned
methods_scopes(const char *name, const json_t *params)
{
	const struct method *m = find(name);

	return m == NULL ? SCOPES_NONE : m->scopes(params);
}

const char *
methods_member(const char *name)
{
	const struct method *m = find(name);

	return m == NULL ? NULL : m->member;
}

bool
methods_call_tool(const char *name)
{
	const struct method *m = find(name);

	return m != NULL && m->scopes == scopes_tool;
}

const char *
methods_constant(const char *name)
{
	const struct method *m = find(name);

	for (size_t i = 0; m == NULL && i < COUNT(notifications); i++)
		if (strcmp(notifications[i].name, name) == 0)
			return notifications[i].name;
	return m == NULL ? NULL : m->name;
}

void
methods_notify(struct client *client, const char *name, const json_t *params)
{
	for (size_t i = 0; i < COUNT(notifications); i++)
		if (strcmp(notifications[i].name, name) == 0)
			notifications[i].handle(client, params);
}

/* ---- capabilities ---- */

static bool
changes(const char *capability)
{
	static const char *const lists[] = {
		[PROVIDER_tools] = "tools",
		[PROVIDER_prompts] = "prompts",
		[PROVIDER_resources] = "resources",
	};
	size_t i = 0;

	while (i < COUNT(lists) && strcmp(lists[i], capability) != 0)
		i++;
	return i < COUNT(lists) && providers_change((enum provider_list)i);
}

/* The capability of that name, which is added to all if it is not there; borrowed. */
static json_t *
capability_of(json_t *all, const char *name)
{
	json_t *one = json_object_get(all, name);

	if (one != NULL)
		return one;
	one = json_object();
	json_object_set_new(all, name, one);
	if (changes(name))
		json_object_set_new(one, "listChanged", json_true());
	return one;
}

json_t *
methods_capabilities(const struct revision *revision)
{
	json_t *all = json_object();

	for (const struct method *m = methods; m < methods + COUNT(methods); m++) {
		if (m->capability == NULL || (m->revisions & revision->bit) == 0)
			continue;

		json_t *one = capability_of(all, m->capability);
		bool extension = strcmp(m->capability, "extensions") == 0;

		if (m->flag != NULL)
			json_object_set_new(one, m->flag, extension ? json_object() : json_true());
	}
	return all;
}
