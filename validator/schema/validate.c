/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c - a check of JSON: the schema's plan, the verdict, and then, if it is bad, the errors.
 *
 * Trusts nobody: data and schema come from a client.
 */
#include "validator/schema/validate.h"

#include "validator/schema/cache.h"
#include "validator/schema/document.h"
#include "validator/schema/run.h"

#include "common/table/schemas.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_STEPS = 20000000,
	MAX_MS = 2000,
	MAX_NODES = 1000, /* that are looked at for their types */
	MESSAGE_BYTES = 4096,
	NOTES_BYTES = 1536,
};

static const enum draft drafts[json_draft_COUNT] = {
	[json_draft_2020_12] = DRAFT_2020,
	[json_draft_2019_09] = DRAFT_2019,
	[json_draft_07] = DRAFT_7,
	[json_draft_06] = DRAFT_6,
	[json_draft_04] = DRAFT_4,
};

static int
word_of(enum draft draft)
{
	int word = 0;

	while (drafts[word] != draft)
		word++;
	return word;
}

/* ---- the schema ---- */

/* The text of a named schema, or the text that is one. */
static int
read_name(const json_t *name, struct blob *text, struct err *e)
{
	const char *said = json_string_value(name);
	const struct schema *found = schemas_find(said);

	*text = (struct blob){ (void *)(uintptr_t)said, json_string_length(name) };
	if (said[strspn(said, " \t\r\n")] == '{')
		return 0;
	if (found == NULL)
		return err_set(e, ERR_not_found,
		    "schema_name_or_dict: no schema has the name %.80s; there are config, dataset "
		    "and user, or give a schema as an object",
		    said);
	*text = (struct blob){ (void *)(uintptr_t)found->text, strlen(found->text) };
	return 0;
}

/* *text: borrowed from the table, the request, or *name, which the caller releases. */
static int
read_schema(const struct blob *given, struct document *name, struct blob *text, struct err *e)
{
	*text = *given;
	*name = (struct document){ 0 };
	if (given->size == 0 || *(const char *)given->data != '"')
		return 0;
	if (document_read(name, "schema_name_or_dict", given->data, given->size, e) < 0)
		return -1;
	return read_name(name->value, text, e);
}

/* Documents may come as a text, too: a message has no more than so many keys. */
static int
read_documents(const struct blob *given, struct document *outer, struct blob *text, struct err *e)
{
	*text = *given;
	*outer = (struct document){ 0 };
	if (given->size == 0 || *(const char *)given->data != '"')
		return 0;
	if (document_read(outer, "documents", given->data, given->size, e) < 0)
		return -1;
	*text = (struct blob){ (void *)(uintptr_t)json_string_value(outer->value),
		json_string_length(outer->value) };
	return 0;
}

static const struct plan *
plan_of(const struct validate_json_data *ask, struct err *e)
{
	const struct plan *plan = NULL;
	struct document name, outer = { 0 };
	struct blob schema, documents;

	if (read_schema(&ask->schema_name_or_dict, &name, &schema, e) == 0 &&
	    read_documents(&ask->documents, &outer, &documents, e) == 0)
		plan = cache_plan(&(struct cache_key){ .schema = &schema,
				      .documents = &documents,
				      .draft = drafts[ask->draft],
				      .formats = ask->check_formats },
		    e);
	document_free(&name);
	document_free(&outer);
	return plan;
}

/* ---- the verdict ---- */

static bool all_forbid_text(const struct branches *, unsigned *left);

static const struct run_limits limits = { MAX_STEPS, MAX_MS };

/* Do the types of a node, or of those that apply in its place, allow no text at all? Looks at no
 * more than *left nodes, because a schema may refer to itself. */
static bool
forbids_text(const struct node *node, unsigned *left)
{
	const struct logic_rule *rule = node->logic;

	if ((node->types & VALUE_string) == 0)
		return true;
	if (rule == NULL || *left == 0)
		return false;
	--*left;
	if ((rule->ref != NULL && forbids_text(rule->ref, left)) ||
	    (rule->dynamic != NULL && forbids_text(rule->dynamic, left)))
		return true;
	for (size_t i = 0; i < rule->all.count; i++)
		if (forbids_text(rule->all.nodes[i], left))
			return true;
	return all_forbid_text(&rule->any, left) || all_forbid_text(&rule->one, left);
}

static bool
all_forbid_text(const struct branches *branches, unsigned *left)
{
	for (size_t i = 0; i < branches->count; i++)
		if (!forbids_text(branches->nodes[i], left))
			return false;
	return branches->count > 0;
}

static int
verdict(const struct plan *plan, const json_t *value, struct problems *problems, struct err *e)
{
	struct arena arena = { 0 };
	struct view view;

	view_read(&view, &arena, value);
	int got = run_check(plan, &view, &limits, problems, e);
	arena_free(&arena);
	return got;
}

/* A model often sends the text of an object for the object. Where the schema allows texts, the
 * verdict is about the text. */
static int
check(const struct plan *plan, struct document *data, struct schema_report *out, struct err *e)
{
	const json_t *text = data->value;
	int got = verdict(plan, text, NULL, e);
	struct document inner;
	unsigned left = MAX_NODES;
	struct err why;

	if (got != 0 || !json_is_string(text) || !forbids_text(plan->root, &left))
		return got;
	if (document_read(&inner, "data", json_string_value(text), json_string_length(text), &why) <
	    0) {
		if (why.code == ERR_limit_exceeded)
			*e = why;
		return why.code == ERR_limit_exceeded ? -1 : 0;
	}
	if (!json_is_object(inner.value) && !json_is_array(inner.value)) {
		document_free(&inner);
		return 0;
	}
	document_free(data);
	*data = inner;
	out->parsed_text = true;
	return verdict(plan, data->value, NULL, e);
}

/* A limit ends the search for further errors, but not the report of those that were found. */
static void
collect(const struct plan *plan, const json_t *value, const struct validate_json_data *ask,
    struct schema_report *out)
{
	struct problems problems = { .most = ask->max_errors,
		.detailed = ask->output == schema_output_detailed };
	struct err ignored;

	verdict(plan, value, &problems, &ignored);
	out->errors.items = problems.items;
	out->errors.count = problems.count;
	out->error_count = problems.total > 0 ? problems.total : 1;
}

/* ---- what the schema says without effect ---- */

static const char *
draft_text(enum draft draft)
{
	return word_text(SET_json_draft, word_of(draft));
}

/* A schema that names too old a draft would otherwise lose a rule silently. */
static void
tell_draft(const struct note *note, char *text, size_t size)
{
	char others[48] = "";

	if (note->count > 1)
		snprintf(others, sizeof others, "; so were %zu more keywords", note->count - 1);
	snprintf(text, size,
	    " The keyword \"%.40s\" at \"%.200s\" was ignored, because %s does not know it; %s "
	    "does%s.",
	    note->name, note->in->where, draft_text(note->in->resource->draft),
	    draft_text(note->known), others);
}

static void
tell_unknown(const struct note *note, const char *what, char *text, size_t size)
{
	char meant[64] = ".", others[48] = "";

	if (note->meant != NULL)
		snprintf(meant, sizeof meant, "; did you mean \"%s\"?", note->meant);
	if (note->count > 1)
		snprintf(others, sizeof others, " There are %zu more like it.", note->count - 1);
	snprintf(text, size, " The %s \"%.40s\" at \"%.200s\" is unknown and has no effect%s%s",
	    what, note->name, note->in->where, meant, others);
}

static void
tell_notes(const struct note notes[NOTE_COUNT], char *text, size_t size)
{
	char *at = text, *end = text + size;

	*at = '\0';
	if (notes[NOTE_DRAFT].count > 0)
		tell_draft(&notes[NOTE_DRAFT], at, size);
	at += strlen(at);
	if (notes[NOTE_KEYWORD].count > 0)
		tell_unknown(&notes[NOTE_KEYWORD], "keyword", at, (size_t)(end - at));
	at += strlen(at);
	if (notes[NOTE_FORMAT].count > 0)
		tell_unknown(&notes[NOTE_FORMAT], "format", at, (size_t)(end - at));
}

static int
summarize(const struct plan *plan, struct schema_report *out, struct err *e)
{
	char text[MESSAGE_BYTES], notes[NOTES_BYTES];
	bool cut;

	tell_notes(plan->notes, notes, sizeof notes);
	if (out->valid)
		snprintf(text, sizeof text, "The data conforms to the schema.%s", notes);
	else if (out->errors.count == 0)
		snprintf(text, sizeof text, "The data does not conform to the schema.%s", notes);
	else
		snprintf(text, sizeof text, "%" PRIu64 " error%s; the first: %.*s%s%s",
		    out->error_count, out->error_count == 1 ? "" : "s",
		    MESSAGE_BYTES - NOTES_BYTES - 64, out->errors.items[0].message,
		    notes[0] != '\0' ? "." : "", notes);
	out->message = utf8_fit(text, strlen(text), sizeof text - 1, "...", &cut).data;
	return out->message != NULL ? 0 : err_sys(e, "write the report");
}

static int
validate(const struct plan *plan, const struct validate_json_data *ask, struct schema_report *out,
    struct err *e)
{
	struct document data;

	if (document_read(&data, "data", ask->data.data, ask->data.size, e) < 0)
		return -1;
	int got = check(plan, &data, out, e);
	out->valid = got > 0;
	out->draft = word_of(plan->root->resource->draft);
	if (got == 0 && ask->output != schema_output_flag)
		collect(plan, data.value, ask, out);
	document_free(&data);
	return got < 0 ? -1 : summarize(plan, out, e);
}

int
validate_json(const struct validate_json_data *ask, struct schema_report *out, struct err *e)
{
	const struct plan *plan = plan_of(ask, e);
	int status = plan != NULL ? validate(plan, ask, out, e) : -1;

	if (status < 0)
		utf8_tame(e->text);
	cache_settle();
	return status;
}
