/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers.c - the list of providers, and the handlers of the methods that walk it.
 *
 * The first provider that has an object answers the request.  schema.def's tools come first: no
 * other provider can take the name of one, and a call of one asks no other provider.
 */
#include "gateway/mcp/providers.h"

#include "gateway/mcp/complete.h"
#include "gateway/mcp/handlers.h"
#include "gateway/mcp/page.h"
#include "gateway/mcp/prompts.h"
#include "gateway/mcp/resource/resource.h"
#include "gateway/mcp/resource/uri.h"
#include "gateway/mcp/resource/view.h"
#include "gateway/mcp/toolcall.h"
#include "gateway/task/task.h"

#include "common/credential/scope.h"

#include "common/base/auto.h"

#include <string.h>

/* The last one stays NULL. */
static const struct provider *providers[8] = { &toolcall_provider, &prompts_provider,
	&resource_provider, &complete_provider, &task_provider };

void
providers_add(const struct provider *more)
{
	size_t i = 0;

	while (providers[i] != NULL)
		i++;
	must(i < COUNT(providers) - 1);
	providers[i] = more;
}

bool
providers_change(enum provider_list which)
{
	for (size_t i = 0; providers[i] != NULL; i++)
		if (providers[i]->changes[which])
			return true;
	return false;
}

bool
providers_have_task(const struct account *account, const char *id)
{
	for (size_t i = 0; providers[i] != NULL; i++)
		if (providers[i]->has_task != NULL && providers[i]->has_task(account, id))
			return true;
	return false;
}

/* ---- lists ---- */

/* NULL: the provider has no such list, or no memory. */
static json_t *
list_of(const struct provider *p, enum provider_list which, const struct revision *revision,
    const struct client *client)
{
	return p->lists[which] == NULL ? NULL : p->lists[which](revision, client);
}

/* Takes both arrays.  They may be shared, so the sum is a new one. */
static json_t *
join(json_t *all, json_t *more)
{
	json_t *both = json_copy(all);

	json_array_extend(both, more);
	json_decref(all);
	json_decref(more);
	return both;
}

/* The list of the only provider that has one is returned as it is. */
static json_t *
gather(const struct request *r, enum provider_list which)
{
	json_t *all = NULL;

	for (size_t i = 0; providers[i] != NULL; i++) {
		json_t *more = list_of(providers[i], which, r->origin.revision, r->origin.client);

		all = all == NULL ? more : more == NULL ? all : join(all, more);
	}
	return all;
}

static json_t *
answer_list(const struct request *r, enum provider_list which, const char *member)
{
	json_t *all = gather(r, which);

	return all != NULL ? page_answer(r, member, all)
	                   : jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
}

json_t *
handle_tools_list(const struct request *r)
{
	return answer_list(r, PROVIDER_tools, "tools");
}

json_t *
handle_prompts_list(const struct request *r)
{
	return answer_list(r, PROVIDER_prompts, "prompts");
}

json_t *
handle_templates_list(const struct request *r)
{
	return answer_list(r, PROVIDER_templates, "resourceTemplates");
}

json_t *
handle_resources_list(const struct request *r)
{
	return resource_answer_list(r, gather(r, PROVIDER_resources));
}

static json_t *
tool_named(const json_t *all, const char *name)
{
	json_t *tool;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)all, i, tool)
	{
		const char *its = json_string_value(json_object_get(tool, "name"));

		if (its != NULL && strcmp(its, name) == 0)
			return json_incref(tool);
	}
	return NULL;
}

json_t *
providers_tool(const struct revision *revision, const char *name)
{
	json_t *found = NULL;

	for (size_t i = 0; providers[i] != NULL && found == NULL; i++) {
		json_t *all = list_of(providers[i], PROVIDER_tools, revision, NULL);

		found = tool_named(all, name);
		json_decref(all);
	}
	return found;
}

/* ---- requests for one object ---- */

/* Whether a provider has the object; then *answer is the answer, or NULL: pending. */
static bool
ask(const struct request *r, enum provider_request what, const char *name, json_t **answer)
{
	for (size_t i = 0; providers[i] != NULL; i++)
		if (providers[i]->requests[what] != NULL &&
		    providers[i]->requests[what](r, name, answer))
			return true;
	return false;
}

/* The name of a tool or a prompt; NULL with a refusal. */
static const char *
read_name(const struct request *r, json_t **answer)
{
	json_t *arguments = json_object_get(r->params, "arguments");
	const char *name = method_text(r, "name", answer);

	if (name == NULL || arguments == NULL || json_is_object(arguments))
		return name;
	*answer = method_refuse(r, "arguments must be an object");
	return NULL;
}

json_t *
handle_tools_call(const struct request *r)
{
	json_t *answer = NULL;
	const char *name = read_name(r, &answer);

	if (name == NULL || ask(r, PROVIDER_call, name, &answer))
		return answer;
	return jsonrpc_error(r->origin.id, RPC_PARAMS, "Unknown tool: %.128s", name);
}

json_t *
handle_prompts_get(const struct request *r)
{
	json_t *answer = NULL;
	const char *name = read_name(r, &answer);

	if (name == NULL || ask(r, PROVIDER_get, name, &answer))
		return answer;
	return method_refuse(r, "unknown prompt: %.128s", name);
}

json_t *
handle_resources_read(const struct request *r)
{
	json_t *answer = NULL;
	const char *uri = method_text(r, "uri", &answer);

	if (uri == NULL)
		return answer;
	if (strlen(uri) > URI_MAX)
		return method_refuse(
		    r, "uri: %zu bytes are over the limit of %d", strlen(uri), URI_MAX);
	return ask(r, PROVIDER_read, uri, &answer) ? answer : view_absent(r);
}

/* The prompt or the template whose argument is completed; NULL: ref names none. */
static const char *
read_ref(const struct request *r, enum provider_request *what)
{
	static const struct {
		const char *type, *member;
		enum provider_request what;
	} kinds[] = {
		{ "ref/prompt", "name", PROVIDER_complete_prompt },
		{ "ref/resource", "uri", PROVIDER_complete_template },
	};
	json_t *ref = json_object_get(r->params, "ref");
	const char *type = json_string_value(json_object_get(ref, "type"));
	size_t i = 0;

	while (i < COUNT(kinds) && (type == NULL || strcmp(type, kinds[i].type) != 0))
		i++;
	if (i == COUNT(kinds))
		return NULL;
	*what = kinds[i].what;
	return json_string_value(json_object_get(ref, kinds[i].member));
}

json_t *
handle_complete(const struct request *r)
{
	json_t *argument = json_object_get(r->params, "argument"), *answer = NULL;
	enum provider_request what;
	const char *ref = read_ref(r, &what);

	if (!json_is_string(json_object_get(argument, "name")) ||
	    !json_is_string(json_object_get(argument, "value")))
		return method_refuse(r, "argument.name and argument.value must be strings");
	if (ref != NULL && ask(r, what, ref, &answer))
		return answer;
	return method_refuse(r, "ref: not a prompt or resource template of this server");
}

/* ---- tasks ---- */

/* The id that the request names; NULL with a refusal. */
static const char *
read_task(const struct request *r, json_t **answer)
{
	if (method_declared(r, "extensions", REVISION_META "tasks"))
		return method_text(r, "taskId", answer);
	*answer = method_lacks(r, task_capability());
	return NULL;
}

static json_t *
answer_task(const struct request *r, enum provider_request what)
{
	json_t *answer = NULL;
	const char *id = read_task(r, &answer);

	if (id == NULL || ask(r, what, id, &answer))
		return answer;
	return task_absent(r);
}

json_t *
handle_tasks_get(const struct request *r)
{
	return answer_task(r, PROVIDER_get_task);
}

json_t *
handle_tasks_update(const struct request *r)
{
	json_t *answer = NULL;

	if (read_task(r, &answer) == NULL)
		return answer;
	if (!json_is_object(json_object_get(r->params, "inputResponses")))
		return method_refuse(r, "inputResponses must be an object");
	return answer_task(r, PROVIDER_update_task);
}

json_t *
handle_tasks_cancel(const struct request *r)
{
	return answer_task(r, PROVIDER_cancel_task);
}
