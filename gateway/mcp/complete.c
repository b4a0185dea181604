/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.c - values of an argument that start with what the user typed (utilities/completion).
 *
 * Daemons are asked in the name of the principal for what it owns.  If a daemon is not connected,
 * completion suggests nothing instead of waiting.
 */
#include "gateway/mcp/complete.h"

#include "gateway/mcp/fan_out.h"
#include "gateway/mcp/prompts.h"
#include "gateway/mcp/resource/resource.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"
#include "common/profile/profile.h"
#include "common/table/schemas.h"

#include <string.h>

enum {
	MAX_VALUES = 100,
};

/* The source of values for an argument of that name. */
struct source {
	const char *argument;
	enum msg_id message;       /* MSG_none: a list of the gateway */
	const char *list, *member; /* a member of the reply; of an item, or of its "event" */
	const char *fixed;         /* arguments, as JSON */
	const char *needs;         /* an argument that must already be known */
	json_t *(*values)(void);   /* of the gateway, before those of the message; or NULL */
};

static json_t *
profile_names(void)
{
	json_t *all = json_array();

	for (int i = 0; i < PROFILE_COUNT; i++)
		json_array_append_new(all, json_string(profile_name((enum profile)i)));
	return all;
}

static json_t *
schema_names(void)
{
	json_t *all = json_array();

	for (const struct schema *s = schemas; s->name != NULL; s++)
		json_array_append_new(all, json_string(s->name));
	return all;
}

/* clang-format off */
static const struct source sources[] = {
	{ "execution_id", MSG_audit_execution,        "entries",   "execution_id", "{\"limit\":1000}", NULL, NULL },
	{ "language",     MSG_list_runtimes,          "runtimes",  "language",     NULL, NULL, NULL },
	{ "path",         MSG_sandbox_list_artifacts, "artifacts", "filename",     NULL, "session_id", NULL },
	{ "profile",      MSG_none,                   NULL,        NULL,           NULL, NULL, profile_names },
	{ "schema_name",  MSG_list_schemas,           "schemas",   "name",         NULL, NULL, schema_names },
	{ "session_id",   MSG_sandbox_stats,          "sessions",  "session_id",   NULL, NULL, NULL },
	{ "snapshot_id",  MSG_list_state_snapshots,   "snapshots", "snapshot_id",  NULL, NULL, NULL },
};
/* clang-format on */

static json_t *
own_values(const struct source *s)
{
	return s->values != NULL ? s->values() : json_array();
}

static const struct source *
find(const char *argument)
{
	for (size_t i = 0; i < COUNT(sources); i++)
		if (strcmp(sources[i].argument, argument) == 0)
			return &sources[i];
	return NULL;
}

/* Whether the template has a variable of that name. */
static bool
has_variable(const char *template, const char *name)
{
	for (const char *at = strchr(template, '{'); at != NULL; at = strchr(at + 1, '{')) {
		at += 1 + (at[1] == '+');

		size_t n = strcspn(at, "}");

		if (strlen(name) == n && memcmp(at, name, n) == 0)
			return true;
	}
	return false;
}

/* ---- the answer ---- */

/* Takes all values, and returns those that start with the argument's value, each once. */
static json_t *
answer(const struct request *r, json_t *all)
{
	const char *begin =
	    json_string_value(json_object_get(json_object_get(r->params, "argument"), "value"));
	json_t *values = json_array(), *seen = json_object(), *value;
	size_t i, total = 0;

	json_array_foreach(all, i, value)
	{
		const char *text = json_string_value(value);

		if (text == NULL || strncmp(text, begin, strlen(begin)) != 0 ||
		    json_object_get(seen, text) != NULL)
			continue;
		json_object_set_new(seen, text, json_true());
		if (total++ < MAX_VALUES)
			json_array_append(values, value);
	}
	json_decref(seen);
	json_decref(all);
	return method_complete(r, json_pack("{s:{s:o, s:I, s:b}}", "completion", "values", values,
				      "total", (json_int_t)total, "hasMore", total > MAX_VALUES));
}

/* context: the name of the argument */
static json_t *
compose(const struct request *r, const struct reply *replies, json_t *context)
{
	const struct source *s = find(json_string_value(context));
	json_t *all = own_values(s), *item;
	size_t i;

	json_array_foreach(json_object_get(replies[0].value, s->list), i, item)
	{
		json_t *value = json_object_get(item, s->member);

		if (value == NULL)
			value = json_object_get(json_object_get(item, "event"), s->member);
		if (value != NULL)
			json_array_append(all, value);
	}
	return answer(r, all);
}

static json_t *
ask(const struct request *r, const struct source *s)
{
	json_t *known = json_object_get(json_object_get(r->params, "context"), "arguments");
	json_t *needed = s->needs == NULL ? NULL : json_object_get(known, s->needs);
	json_t *arguments = s->fixed == NULL ? json_object() : json_loads(s->fixed, 0, NULL);

	if (!bus_ready(messages[s->message].server, NULL) ||
	    (s->needs != NULL && !json_is_string(needed))) {
		json_decref(arguments);
		return answer(r, own_values(s));
	}
	if (needed != NULL)
		json_object_set(arguments, s->needs, needed);
	return fan_out_begin(
	    r, &(struct want){ s->message, arguments }, 1, compose, json_string(s->argument));
}

/* ---- the request ---- */

/* has: whether the prompt or the template has the argument. */
static json_t *
suggest(const struct request *r, const char *argument, bool has)
{
	const struct source *s = find(argument);

	if (!has)
		return method_refuse(r, "argument.name: ref has no argument %.64s", argument);
	if (s == NULL)
		return answer(r, json_array());
	return s->message == MSG_none ? answer(r, own_values(s)) : ask(r, s);
}

static const char *
argument_of(const struct request *r)
{
	return json_string_value(json_object_get(json_object_get(r->params, "argument"), "name"));
}

static bool
complete_prompt(const struct request *r, const char *prompt, json_t **result)
{
	const char *argument = argument_of(r);

	if (!prompts_have(prompt, NULL))
		return false;
	*result = suggest(r, argument, prompts_have(prompt, argument));
	return true;
}

static bool
complete_template(const struct request *r, const char *template, json_t **result)
{
	const char *argument = argument_of(r), *known;

	for (unsigned i = 0; (known = resource_template(i)) != NULL; i++)
		if (strcmp(known, template) == 0 &&
		    (resource_scopes(known) & ~r->origin.client->scopes) == 0) {
			*result = suggest(r, argument, has_variable(known, argument));
			return true;
		}
	return false;
}

const struct provider complete_provider = {
	.requests = {
		[PROVIDER_complete_prompt] = complete_prompt,
		[PROVIDER_complete_template] = complete_template,
	},
};
