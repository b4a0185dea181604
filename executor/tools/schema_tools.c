/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_tools.c - registered JSON Schemas: the validator says whether one can be used, and
 * snapshotd keeps it.
 *
 * Trusts neither name nor schema.  The validator checks the schema again whenever it is used, so
 * its verdict here only tells the client of an error early.
 */
#include "executor/tools/schema_tools.h"

#include "executor/options.h"
#include "executor/session/snapshot/snapshot.h"

#include "common/base/auto.h"

#include <jansson.h>
#include <string.h>

/* A schema that the validator looks at. */
struct registration {
	struct call *call;
	struct register_schema ask;
};

static void
free_registration(struct registration *r)
{
	message_clear(MSG_register_schema, &r->ask);
	free(r);
}

/* The validator speaks of the argument of another tool. */
static void
tell(struct call *call, const struct err *why)
{
	static const char theirs[] = "schema_name_or_dict:";
	const char *text = why->text;
	struct err e;

	if (strncmp(text, theirs, sizeof theirs - 1) != 0) {
		call_fail(call, why);
		return;
	}
	err_set(&e, why->code, "schema:%s", text + sizeof theirs - 1);
	e.retry_ms = why->retry_ms;
	call_fail(call, &e);
}

static void
checked(void *self, void *reply, const struct err *e)
{
	struct registration *r = self;
	struct err why;

	if (reply == NULL)
		tell(r->call, e);
	else if (snapshot_pass_on(r->call, MSG_register_schema, &r->ask, &why) < 0)
		call_fail(r->call, &why);
	free_registration(r);
}

/* Replaces a JSON text, which may have the schema as its value, by the schema's own text. */
static int
unwrap(struct blob *schema, struct err *e)
{
	const char *text = schema->data;
	size_t size = schema->size;
	json_t *inner =
	    size > 0 && *text == '"' ? json_loadb(text, size, JSON_DECODE_ANY, NULL) : NULL;

	if (inner != NULL) {
		struct blob own = blob_copy(json_string_value(inner), json_string_length(inner));

		json_decref(inner);
		if (own.data == NULL)
			return err_sys(e, "schema");
		blob_clear(schema);
		*schema = own;
	}
	text = schema->data;
	for (size = 0; size < schema->size && strchr(" \t\r\n", text[size]) != NULL;)
		size++;
	return size < schema->size && text[size] == '{'
	           ? 0
	           : err_set(e, ERR_invalid_argument,
			 "schema: a JSON Schema as an object, or the text of one");
}

/* Checks null: what is asked for is not the verdict, but whether there can be one. */
static int
ask_validator(struct registration *r, struct err *e)
{
	struct validate_json_data request = {
		.data = blob_text("null"),
		.schema_name_or_dict = blob_copy(r->ask.schema.data, r->ask.schema.size),
		.output = schema_output_flag,
		.check_formats = true,
		.max_errors = 1,
	};
	int status = 0;

	if (request.data.data == NULL || request.schema_name_or_dict.data == NULL)
		status = err_sys(e, "schema");
	else if (bus_ask(
		     &(struct ask){
			 .to = PEER_validator,
			 .message = MSG_validate_json_data,
			 .request = &request,
			 .owner = &r->call->owner,
			 .trace = r->call->trace,
			 .timeout_ms = (int64_t)options.validator_ms,
			 .self = r,
			 .done = checked,
		     },
		     e) == 0)
		status = -1;
	message_clear(MSG_validate_json_data, &request);
	return status;
}

int
schema_tools_on_register_schema(struct call *call, void *request, struct err *e)
{
	struct register_schema *ask = request;
	struct registration *r;

	if (unwrap(&ask->schema, e) < 0)
		return -1;
	r = calloc(1, sizeof *r);
	if (r == NULL)
		return err_sys(e, "schema");
	*r = (struct registration){ .call = call, .ask = *ask };
	*ask = (struct register_schema){ 0 };
	if (ask_validator(r, e) == 0)
		return 0;
	free_registration(r);
	return -1;
}

int
schema_tools_on_list_schemas(struct call *call, void *request, struct err *e)
{
	return snapshot_pass_on(call, MSG_list_schemas, request, e);
}

int
schema_tools_on_get_schema(struct call *call, void *request, struct err *e)
{
	return snapshot_pass_on(call, MSG_get_schema, request, e);
}

int
schema_tools_on_remove_schema(struct call *call, void *request, struct err *e)
{
	return snapshot_pass_on(call, MSG_remove_schema, request, e);
}
