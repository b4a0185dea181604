/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.c - one row per resource or template: its names, and the messages that serve it.
 *
 * Tools use the same messages.  They are sent in the name of the principal, and the daemon that
 * holds a session, file, snapshot or record checks its owner.
 * Source: 2026-07-28 server/resources.  A resource that does not exist and one of another
 * principal get the same error.
 */
#include "gateway/mcp/resource/resource.h"

#include "gateway/mcp/icon.h"
#include "gateway/mcp/inquire.h"
#include "gateway/mcp/page.h"
#include "gateway/mcp/resource/keep.h"
#include "gateway/mcp/resource/output.h"
#include "gateway/mcp/resource/uri.h"
#include "gateway/mcp/resource/view.h"
#include "gateway/mcp/result.h"

#include "common/credential/scope.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"
#include "common/codec/jschema.h"
#include "common/table/schemas.h"

#include <stdio.h>
#include <string.h>

#define JSON   "application/json"
#define TEXT   "text/plain"
#define SCHEMA "application/schema+json"

struct resource {
	const char *uri; /* or a template */
	const char *name, *title, *doc, *mime_type;
	/* Sent in parallel.  The values of the URI's variables are passed under the same names,
	 * together with the JSON of fixed. */
	struct {
		enum msg_id message;
		const char *fixed;
	} wants[FAN_OUT_WANTS];
	fan_out_compose *compose; /* builds the answer from the replies */
	json_t *(*read)(const struct request *, const json_t *variables); /* or without messages */
};

static json_t *read_schemas(const struct request *, const json_t *variables);
static json_t *read_schema(const struct request *, const json_t *variables);

/* clang-format off */
static const struct resource resources[] = {
	{ URI_STATUS, "status", "Status of the sandbox",
	  "Limits, languages and isolation in force, your sessions, how many snapshots you have, and "
	  "which daemons are connected.", JSON,
	  { { MSG_get_sandbox_info, "{\"detail\":false}" }, { MSG_sandbox_stats, NULL },
	    { MSG_list_state_snapshots, NULL } }, view_status, NULL },
	{ URI_LOGS, "logs", "Execution traces",
	  "Your last 100 records: what ran, how it ended, how long it took. Newest first.", JSON,
	  { { MSG_audit_execution, "{\"limit\":100}" } }, view_logs, NULL },
	{ URI_SCHEMAS, "schemas", "Named JSON Schemas",
	  "Schemas that data can be checked against by name.", JSON, { { 0 } }, NULL, read_schemas },
	{ URI_SCHEMAS "/{schema_name}", "schema", "A named JSON Schema",
	  "One of config, dataset, user, or one that you registered.", SCHEMA, { { 0 } }, NULL, read_schema },
	{ URI_FILES "{session_id}/{+path}", "artifact", "A file of a session",
	  "A file of a session's workspace: text as text, other content as base64.", NULL,
	  { { MSG_sandbox_read_artifact, NULL } }, view_file, NULL },
	{ URI_FILES "{session_id}", "artifacts", "Files of a session",
	  "Names, sizes and SHA-256 of the files of a session's workspace.", JSON,
	  { { MSG_sandbox_list_artifacts, NULL } }, view_value, NULL },
	{ KEEP_URI "{output_id}/{name}", "output", "Text omitted from a result",
	  "The whole text of which one of your results contains a part; kept for a limited time.", TEXT,
	  { { 0 } }, NULL, output_read },
	{ KEEP_URI "{output_id}/{name}/{offset}", "output-piece", "A piece of omitted text",
	  "40,000 bytes of the text, from that byte on.", TEXT, { { 0 } }, NULL, output_read },
	{ URI_SESSIONS "{session_id}", "session", "A session",
	  "Variables and environment of a session.", JSON,
	  { { MSG_inspect_state, NULL } }, view_value, NULL },
	{ URI_SNAPSHOTS "{snapshot_id}", "snapshot", "A snapshot",
	  "Its time and purpose, and of each file size, mtime, SHA-256 and, up to 1 MiB, content.", JSON,
	  { { MSG_describe_state_snapshot, NULL } }, view_snapshot, NULL },
	{ URI_AUDIT "{execution_id}", "audit", "Records of a run",
	  "The records of one run in the hash-chained audit log.", JSON,
	  { { MSG_audit_execution, "{\"limit\":100}" } }, view_audit, NULL },
};
/* clang-format on */

static unsigned
needed_by(const struct resource *row)
{
	unsigned needed = 1U << scope_read;

	for (size_t i = 0; i < FAN_OUT_WANTS && row->wants[i].message != MSG_none; i++)
		needed |= scope_of_tool(row->wants[i].message);
	return needed;
}

unsigned
resource_scopes(const char *uri)
{
	unsigned needed = 1U << scope_read;

	for (size_t i = 0; strlen(uri) <= URI_MAX && i < COUNT(resources); i++) {
		json_t *variables = uri_match(resources[i].uri, uri);

		if (variables != NULL)
			needed = needed_by(&resources[i]);
		json_decref(variables);
		if (variables != NULL)
			break;
	}
	return needed;
}

static bool
is_template(const struct resource *row)
{
	return strchr(row->uri, '{') != NULL;
}

const char *
resource_template(unsigned index)
{
	for (size_t i = 0; i < COUNT(resources); i++)
		if (is_template(&resources[i]) && index-- == 0)
			return resources[i].uri;
	return NULL;
}

/* ---- schemas ---- */

/* Takes all. */
static json_t *
say_schemas(const struct request *r, json_t *all)
{
	json_t *value = json_pack("{s:o}", "schemas", all);
	auto_free char *text = json_dumps(value, JSON_COMPACT);

	json_decref(value);
	return view_text(r, JSON, json_string(text));
}

static json_t *
own_schemas(void)
{
	json_t *all = json_array();

	for (const struct schema *s = schemas; s->name != NULL; s++)
		json_array_append_new(
		    all, json_pack("{s:s, s:s, s:o, s:o}", "name", s->name, "title", s->title,
			     "uri", json_sprintf(URI_SCHEMAS "/%s", s->name), "schema",
			     json_loads(s->text, 0, NULL)));
	return all;
}

/* If the store of schemas cannot be read, those of this server are all that can be used. */
static json_t *
on_schemas(const struct request *r, void *reply, const struct err *e)
{
	const struct schema_list *list = reply;
	json_t *all = own_schemas();

	(void)e;
	for (size_t i = 0; list != NULL && i < list->schemas.count; i++) {
		const struct registered_schema *s =
		    (struct registered_schema *)list->schemas.items + i;
		json_t *one = jschema_write(MSG_registered_schema, s);

		json_object_set_new(one, "uri", json_sprintf(URI_SCHEMAS "/%s", s->name));
		json_array_append_new(all, one);
	}
	return say_schemas(r, all);
}

static json_t *
read_schemas(const struct request *r, const json_t *variables)
{
	struct list_schemas request = { 0 };

	(void)variables;
	if (!bus_ready(PEER_executor, NULL))
		return say_schemas(r, own_schemas());
	return inquire(r,
	    (struct ask){ .to = PEER_executor,
		.home = true,
		.message = MSG_list_schemas,
		.request = &request },
	    on_schemas);
}

static json_t *
on_schema(const struct request *r, void *reply, const struct err *e)
{
	const struct schema_text *text = reply;

	if (text != NULL)
		return view_text(r, SCHEMA, json_stringn(text->schema.data, text->schema.size));
	return e->code == ERR_not_found ? view_absent(r) : result_rpc_error(r->origin.id, e);
}

static json_t *
read_schema(const struct request *r, const json_t *variables)
{
	const char *name = json_string_value(json_object_get(variables, "schema_name"));
	const struct schema *s = schemas_find(name);
	struct get_schema request = { .name = (char *)(uintptr_t)name };

	if (s != NULL)
		return view_text(r, SCHEMA, json_string(s->text));
	if (!schemas_is_name(name))
		return view_absent(r);
	return inquire(r,
	    (struct ask){
		.to = PEER_executor, .home = true, .message = MSG_get_schema, .request = &request },
	    on_schema);
}

/* ---- reading ---- */

/* The arguments of a want; NULL if it needs none. */
static json_t *
arguments(const char *fixed, const json_t *variables)
{
	json_t *all =
	    fixed == NULL || fixed[0] == '\0' ? json_object() : json_loads(fixed, 0, NULL);

	/* "": the variables are searched for in the reply instead. */
	if (fixed == NULL || fixed[0] != '\0')
		json_object_update(all, (json_t *)(uintptr_t)variables);
	return all;
}

/* If several daemons contribute to one result, those that are not connected are not waited for. */
static bool
is_away(const struct resource *row, size_t i)
{
	return row->wants[1].message != MSG_none &&
	       !bus_ready(messages[row->wants[i].message].server, NULL);
}

static json_t *
read_row(const struct request *r, const struct resource *row, json_t *variables)
{
	static const struct reply none[FAN_OUT_WANTS];
	struct want wants[FAN_OUT_WANTS];
	size_t count = 0;

	if (row->read != NULL) {
		json_t *answer = row->read(r, variables);

		json_decref(variables);
		return answer;
	}
	for (; count < FAN_OUT_WANTS && row->wants[count].message != MSG_none; count++) {
		if (is_away(row, count))
			break;
		wants[count].message = row->wants[count].message;
		wants[count].arguments = arguments(row->wants[count].fixed, variables);
	}
	if (count > 0)
		return fan_out_begin(r, wants, count, row->compose, variables);
	json_decref(variables);
	return row->compose(r, none, NULL);
}

static bool
read_uri(const struct request *r, const char *uri, json_t **answer)
{
	for (size_t i = 0; i < COUNT(resources); i++) {
		json_t *variables = uri_match(resources[i].uri, uri);

		if (variables == NULL)
			continue;
		*answer = read_row(r, &resources[i], variables);
		return true;
	}
	return false;
}

/* ---- listing ---- */

static json_t *
describe(const struct revision *revision, const char *as, const struct resource *row)
{
	json_t *one = json_pack("{s:s, s:s, s:s, s:s*}", as, row->uri, "name", row->name,
	    "description", row->doc, "mimeType", row->mime_type);

	if (revision->structured)
		json_object_set_new(one, "title", json_string(row->title));
	return one;
}

static json_t *
list_rows(const struct revision *revision, unsigned scopes, bool templates)
{
	json_t *all = json_array();

	for (const struct resource *row = resources; row < resources + COUNT(resources); row++)
		if (is_template(row) == templates && (needed_by(row) & ~scopes) == 0)
			json_array_append_new(
			    all, describe(revision, templates ? "uriTemplate" : "uri", row));
	return all;
}

static unsigned
scopes_of(const struct client *client)
{
	return client != NULL ? client->scopes : SCOPES_ALL;
}

static json_t *
list_templates(const struct revision *revision, const struct client *client)
{
	return list_rows(revision, scopes_of(client), true);
}

static json_t *
list_resources(const struct revision *revision, const struct client *client)
{
	json_t *all = list_rows(revision, scopes_of(client), false);

	for (const struct schema *s = schemas; s->name != NULL; s++)
		json_array_append_new(
		    all, json_pack("{s:o, s:s, s:s, s:s}", "uri",
			     json_sprintf(URI_SCHEMAS "/%s", s->name), "name", s->name,
			     "description", s->title, "mimeType", SCHEMA));
	return all;
}

const struct provider resource_provider = {
	.lists = {
		[PROVIDER_resources] = list_resources,
		[PROVIDER_templates] = list_templates,
	},
	.changes = { [PROVIDER_resources] = true },
	.requests = { [PROVIDER_read] = read_uri },
};

/* ---- the resources that daemons have ---- */

/* Adds sessions or snapshots.  before: the prefix of the URI; name, words: the members with the
 * id and the description. */
static void
add_items(json_t *all, const json_t *items, const char *before, const char *name, const char *words)
{
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)items, i, item)
	{
		const char *id = json_string_value(json_object_get(item, name));
		const char *said = json_string_value(json_object_get(item, words));

		if (id != NULL)
			json_array_append_new(all, json_pack("{s:o, s:s, s:s*, s:s}", "uri",
						       json_sprintf("%s%s", before, id), "name", id,
						       "description", said, "mimeType", JSON));
	}
}

/* Replies: stats, snapshot_list; context: the other resources. */
static json_t *
compose_list(const struct request *r, const struct reply *replies, json_t *context)
{
	json_t *all = json_copy(context);

	add_items(all, json_object_get(replies[0].value, "sessions"), URI_SESSIONS, "session_id",
	    "language");
	add_items(all, json_object_get(replies[1].value, "snapshots"), URI_SNAPSHOTS, "snapshot_id",
	    "description");
	return page_answer(r, "resources", all);
}

/* Clients call this when they start, when the daemons may be starting too.  Those are not waited
 * for: a client that listens is notified when the list grows. */
json_t *
resource_answer_list(const struct request *r, json_t *all)
{
	static const struct want wants[] = { { MSG_sandbox_stats, NULL },
		{ MSG_list_state_snapshots, NULL } };

	if (!bus_ready(PEER_executor, NULL))
		return page_answer(r, "resources", all);
	return fan_out_begin(r, wants, COUNT(wants), compose_list, all);
}
