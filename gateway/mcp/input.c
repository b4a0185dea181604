/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - a row for each kind of content that arguments can name.
 *
 * The executor decides what a name means and whose it is, and masks secrets in a file.  A file that
 * is too large for a message stays where it is: the executor checks it.  The bytes
 * are a hostile program's or a client's, as those in arguments are.
 */
#include "gateway/mcp/input.h"

#include "gateway/mcp/arguments.h"

#include "common/base/auto.h"
#include "common/table/schemas.h"

#include <string.h>

struct input_kind {
	enum hint hint;
	bool (*is)(const json_t *arguments);
	json_t *(*ask)(
	    const struct request *, enum msg_id tool, const json_t *arguments, inquire_answer *);
	/* Takes the reply's bytes. */
	void (*take)(enum msg_id tool, void *reply, struct given *);
	/* Is the content too large for the arguments?  NULL: it never is. */
	bool (*is_over)(const void *reply, const struct err *);
	const char *names[2]; /* the arguments that the content replaces; NULL: its own */
};

/* ---- a file of a session ---- */

/* The field that takes bytes: the first BLOB. */
static const struct field *
bytes_field(enum msg_id tool)
{
	const struct message *m = &messages[tool];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == KIND_BLOB)
			return f;
	return NULL;
}

static bool
is_file(const json_t *arguments)
{
	return json_is_string(json_object_get(arguments, "path"));
}

static json_t *
ask_for_file(
    const struct request *r, enum msg_id tool, const json_t *arguments, inquire_answer *answer)
{
	const char *session = json_string_value(json_object_get(arguments, "session_id"));
	char instance[64];
	bool routed = arguments_instance("sess_", session, instance, sizeof instance);
	struct sandbox_read_artifact request = {
		.path = (char *)(uintptr_t)json_string_value(json_object_get(arguments, "path")),
		.session_id = (char *)(uintptr_t)session,
		.length = (uint64_t)bytes_field(tool)->high,
	};

	return inquire(r,
	    (struct ask){ .to = PEER_executor,
		.instance = routed ? instance : NULL,
		.home = !routed,
		.message = MSG_sandbox_read_artifact,
		.request = &request },
	    answer);
}

static bool
is_file_over(const void *reply, const struct err *e)
{
	const struct artifact_content *content = reply;

	return content != NULL ? content->total_size > content->content_base64.size
	                       : e->code == ERR_file_too_large;
}

static void
take_file(enum msg_id tool, void *reply, struct given *given)
{
	struct artifact_content *content = reply;

	given->field = bytes_field(tool);
	given->bytes = content->content_base64;
	content->content_base64 = (struct blob){ 0 };
}

/* ---- a registered schema ---- */

static const char schema_field[] = "schema_name_or_dict";

/* A text may also be that of a schema, or the name of one that each server has. */
static bool
is_schema(const json_t *arguments)
{
	const json_t *value = json_object_get(arguments, schema_field);
	const char *name = json_string_value(value);

	return name != NULL && strlen(name) == json_string_length(value) && schemas_is_name(name) &&
	       schemas_find(name) == NULL;
}

static json_t *
ask_for_schema(
    const struct request *r, enum msg_id tool, const json_t *arguments, inquire_answer *answer)
{
	struct get_schema request = { .name = (char *)(uintptr_t)json_string_value(
					  json_object_get(arguments, schema_field)) };

	(void)tool;
	return inquire(r,
	    (struct ask){
		.to = PEER_executor, .home = true, .message = MSG_get_schema, .request = &request },
	    answer);
}

static void
take_schema(enum msg_id tool, void *reply, struct given *given)
{
	const struct message *m = &messages[tool];
	struct schema_text *text = reply;

	given->field = m->fields;
	while (strcmp(given->field->name, schema_field) != 0)
		given->field++;
	given->bytes = text->schema;
	text->schema = (struct blob){ 0 };
}

/* ---- all kinds ---- */

static const struct input_kind input_kinds[] = {
	{ TAKES_FILE, is_file, ask_for_file, take_file, is_file_over, { "path", "session_id" } },
	{ TAKES_SCHEMA, is_schema, ask_for_schema, take_schema, NULL, { NULL } },
};

static const struct input_kind *
kind_of(enum msg_id tool, const json_t *arguments)
{
	for (const struct input_kind *k = input_kinds; k < input_kinds + COUNT(input_kinds); k++)
		if ((messages[tool].hints & k->hint) != 0 && k->is(arguments))
			return k;
	return NULL;
}

bool
input_is(enum msg_id tool, const json_t *arguments)
{
	return kind_of(tool, arguments) != NULL;
}

json_t *
input_ask(
    const struct request *r, enum msg_id tool, const json_t *arguments, inquire_answer *answer)
{
	return kind_of(tool, arguments)->ask(r, tool, arguments, answer);
}

json_t *
input_take(enum msg_id tool, const json_t *arguments, void *reply, const struct err *e,
    struct given *given, struct err *why)
{
	const struct input_kind *kind = kind_of(tool, arguments);
	json_t *rest;

	if (kind->is_over != NULL && kind->is_over(reply, e))
		return json_incref((json_t *)(uintptr_t)arguments);
	if (reply == NULL) {
		*why = *e;
		return NULL;
	}
	kind->take(tool, reply, given);
	rest = json_copy((json_t *)(uintptr_t)arguments);
	must(rest != NULL);
	for (size_t i = 0; i < COUNT(kind->names) && kind->names[i] != NULL; i++)
		json_object_del(rest, kind->names[i]);
	return rest;
}

struct given
input_move(struct given *given)
{
	struct given moved = *given;

	given->bytes = (struct blob){ 0 };
	return moved;
}

int
input_put(struct given *given, void *message, bool again, struct err *e)
{
	if (given->field == NULL)
		return 0;

	struct blob *slot = (struct blob *)((char *)message + given->field->offset);
	const size_t size = given->bytes.size;

	blob_clear(slot);
	*slot = again ? blob_copy(given->bytes.data, given->bytes.size) : input_move(given).bytes;
	return slot->size == size ? 0 : err_sys(e, "make a request");
}
