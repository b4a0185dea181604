/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompts.c - one row per prompt: its arguments, and the text that contains them.
 *
 * Arguments come from a user or a model and return to it: they are only ever quoted in text.
 */
#include "gateway/mcp/prompts.h"

#include "gateway/mcp/guide.h"
#include "gateway/mcp/icon.h"

#include "common/base/auto.h"
#include "common/profile/profile.h"
#include "common/table/schemas.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_ARGUMENTS = 3,
	ARGUMENT_BYTES = 262144,
};

struct argument {
	const char *name, *title, *doc;
	bool required;
};

/* values: the arguments in their order, "" for one that is absent. */
struct prompt {
	const char *name, *title, *doc;
	struct argument arguments[MAX_ARGUMENTS];
	/* NULL, or a refusal; NULL: any values will do. */
	json_t *(*check)(const struct request *, const char *const values[MAX_ARGUMENTS]);
	void (*write)(FILE *, const char *const values[MAX_ARGUMENTS]);
};

static const char *
or_else(const char *text, const char *fallback)
{
	return text[0] != '\0' ? text : fallback;
}

/* The rules of a profile are those of a language: where there are none, only open is true. */
static json_t *
check_script(const struct request *r, const char *const v[MAX_ARGUMENTS])
{
	const char *language = or_else(v[1], "python"), *profile = or_else(v[2], "strict");
	struct profile_set set;
	struct err e;

	if (profile_read(profile, &set, &e) < 0)
		return method_refuse(r, "arguments.%s", e.text);
	if (!guide_knows(language) && !profile_is_open(&set))
		return method_refuse(r,
		    "arguments.profile: %s has no rules for the language %.32s; use the profile "
		    "open",
		    set.title, language);
	return NULL;
}

static void
write_rules(FILE *to, const char *language, const char *profile)
{
	struct profile_set set;
	struct err e;

	must(profile_read(profile, &set, &e) == 0);
	for (enum profile one = 0; one < PROFILE_COUNT; one++)
		if ((set.profiles & 1u << one) != 0)
			fprintf(to, "Profile %s: %s\n", profile_name(one), profile_doc(one));
	guide_write(to, language, &set);
}

static void
write_script(FILE *to, const char *const v[MAX_ARGUMENTS])
{
	const char *language = or_else(v[1], "python");

	fprintf(to,
	    "Write a complete program in %s for this task:\n\n%s\n\n"
	    "It runs in a kernel-isolated box. No network but the names that the call allows, no "
	    "access to the host; the system is read-only. Read and write files only by relative "
	    "paths, in the workspace (/workspace). The code is checked before it runs.\n\n",
	    language, v[0]);
	write_rules(to, language, or_else(v[2], "strict"));
	if (strcmp(language, "python") == 0)
		fputs("- Put the value that matters into the variable `result`, or end in an "
		      "expression; print only what a reader needs.\n",
		    to);
	fputs(
	    "- Bound loops and sizes; handle missing or malformed input; write large results to a "
	    "file.\n\n"
	    "Check the program with the server's code check first, fix what it finds, then run "
	    "it. Answer with the program alone in one code block.",
	    to);
}

static void
write_diagnosis(FILE *to, const char *const v[MAX_ARGUMENTS])
{
	const struct schema *schema = schemas_find(v[2]);

	fprintf(to,
	    "This JSON does not conform to its schema.\n\nData:\n```json\n%s\n```\n\nOutput of "
	    "the check:\n```\n%s\n```\n\n",
	    v[0], v[1]);
	if (schema != NULL)
		fprintf(to, "Schema \"%s\":\n```json\n%s\n```\n\n", schema->name, schema->text);
	else if (v[2][0] != '\0')
		fprintf(to, "Schema:\n```json\n%s\n```\n\n", v[2]);
	fputs(
	    "For each error say in one line what is wrong at which JSON pointer and why the schema "
	    "rejects it. Then give the whole corrected JSON in one code block: change only what "
	    "has to be changed, invent no values, and if a value cannot be known, say so and "
	    "ask for it.",
	    to);
}

/* clang-format off */
static const struct prompt prompts[] = {
	{ "diagnose_validation_error", "Diagnose a validation error",
	  "Explain why JSON violates its schema, and correct it.",
	  { { "data", "Data", "The rejected JSON.", true },
	    { "errors", "Errors", "Output of the check.", true },
	    { "schema_name", "Schema", "config, dataset, user, or a JSON Schema.", false } },
	  NULL, write_diagnosis },
	{ "generate_secure_script", "Write a script for the sandbox",
	  "Write a program that follows the rules of the sandbox and of a profile.",
	  { { "task", "Task", "What the program must do.", true },
	    { "language", "Language", "python, node, typescript or shell; default python.", false },
	    { "profile", "Profile", "Profile with the rules, or several, separated by commas; default strict.", false } },
	  check_script, write_script },
};
/* clang-format on */

static const struct prompt *
find(const char *name)
{
	for (const struct prompt *p = prompts; p < prompts + COUNT(prompts); p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

bool
prompts_have(const char *prompt, const char *argument)
{
	const struct prompt *p = find(prompt);

	for (size_t i = 0; p != NULL && i < MAX_ARGUMENTS; i++)
		if (p->arguments[i].name != NULL &&
		    (argument == NULL || strcmp(p->arguments[i].name, argument) == 0))
			return true;
	return false;
}

/* ---- listing ---- */

static json_t *
describe(const struct revision *revision, const struct prompt *p)
{
	json_t *arguments = json_array();
	json_t *one = json_pack(
	    "{s:s, s:s, s:o}", "name", p->name, "description", p->doc, "arguments", arguments);

	for (const struct argument *a = p->arguments;
	     a < p->arguments + MAX_ARGUMENTS && a->name != NULL; a++)
		json_array_append_new(
		    arguments, json_pack("{s:s, s:s*, s:s, s:b}", "name", a->name, "title",
				   revision->structured ? a->title : NULL, "description", a->doc,
				   "required", a->required));
	if (revision->structured)
		json_object_set_new(one, "title", json_string(p->title));
	icon_add(one, revision, ICON_core);
	return one;
}

static json_t *
list(const struct revision *revision, const struct client *client)
{
	json_t *all = json_array();

	(void)client;
	for (size_t i = 0; i < COUNT(prompts); i++)
		json_array_append_new(all, describe(revision, &prompts[i]));
	return all;
}

/* ---- getting ---- */

/* NULL, or a refusal. */
static json_t *
read_argument(const struct request *r, const struct argument *a, const char **value)
{
	json_t *given = json_object_get(json_object_get(r->params, "arguments"), a->name);

	*value = "";
	if (given == NULL && a->required)
		return method_refuse(r, "arguments.%s is required: %s", a->name, a->doc);
	if (given == NULL)
		return NULL;
	if (!json_is_string(given))
		return method_refuse(r, "arguments.%s must be a string", a->name);
	if (json_string_length(given) > ARGUMENT_BYTES)
		return method_refuse(r, "arguments.%s: %zu bytes are over the limit of %d", a->name,
		    json_string_length(given), ARGUMENT_BYTES);
	*value = json_string_value(given);
	return NULL;
}

static json_t *
render(const struct request *r, const struct prompt *p, const char *const values[MAX_ARGUMENTS])
{
	auto_free char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL)
		return jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
	p->write(to, values);
	if (fclose(to) != 0)
		return jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
	return method_complete(
	    r, json_pack("{s:s, s:[{s:s, s:{s:s, s:s}}]}", "description", p->doc, "messages",
		   "role", "user", "content", "type", "text", "text", text));
}

static bool
get(const struct request *r, const char *name, json_t **answer)
{
	const char *values[MAX_ARGUMENTS] = { "", "", "" };
	const struct prompt *p = find(name);

	if (p == NULL)
		return false;
	for (size_t i = 0; i < MAX_ARGUMENTS && p->arguments[i].name != NULL && *answer == NULL;
	     i++)
		*answer = read_argument(r, &p->arguments[i], &values[i]);
	if (*answer == NULL && p->check != NULL)
		*answer = p->check(r, values);
	if (*answer == NULL)
		*answer = render(r, p, values);
	return true;
}

const struct provider prompts_provider = {
	.lists = { [PROVIDER_prompts] = list },
	.requests = { [PROVIDER_get] = get },
};
