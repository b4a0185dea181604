/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jschema.c - the table as JSON Schema 2020-12, the default dialect of MCP for a schema without
 * "$schema". Handles no external data.
 */
#include "common/codec/jschema.h"

#include "common/codec/field.h"

/*
 * Input may omit fields that have a default; output always contains its numbers.
 *
 * Each conversation pays for the schemas of input: they have what a model needs to write a call.
 * Bounds are not among that; jschema_read() holds to them and names them.
 */
enum way {
	INPUT,
	OUTPUT,
};

static json_t *describe(enum msg_id, enum way);

static json_t *
whole(int64_t n)
{
	return json_integer((json_int_t)n);
}

/* Bounds of bytes, expressed in characters: the schema may be looser than the check, never
 * stricter. */
static void
schema_of_text(const struct field *f, enum way way, json_t *to)
{
	json_object_set_new(to, "type", json_string("string"));
	if (way == INPUT)
		return;
	if (f->low > 0)
		json_object_set_new(to, "minLength", whole((f->low + 3) / 4));
	json_object_set_new(to, "maxLength", whole(f->high));
}

static void
schema_of_blob(const struct field *f, enum way way, json_t *to)
{
	json_object_set_new(to, "type", json_string("string"));
	json_object_set_new(to, "contentEncoding", json_string("base64"));
	if (way == INPUT)
		return;
	if (f->low > 0)
		json_object_set_new(to, "minLength", whole((f->low + 2) / 3 * 4));
	json_object_set_new(to, "maxLength", whole((f->high + 2) / 3 * 4));
}

static void
schema_of_any(const struct field *f, enum way way, json_t *to)
{
	(void)way;
	(void)f;
	(void)to;
}

static void
schema_of_number(const struct field *f, enum way way, json_t *to)
{
	json_object_set_new(to, "type", json_string(f->kind == KIND_REAL ? "number" : "integer"));
	if (f->low != INT64_MIN && way == OUTPUT)
		json_object_set_new(to, "minimum", whole(f->low));
	if (f->high != INT64_MAX && way == OUTPUT)
		json_object_set_new(to, "maximum", whole(f->high));
	if (way == INPUT && !f->needed && f->fallback != 0)
		json_object_set_new(to, "default", whole(f->fallback));
}

static void
schema_of_flag(const struct field *f, enum way way, json_t *to)
{
	json_object_set_new(to, "type", json_string("boolean"));
	if (way == INPUT && !f->needed && f->fallback != 0)
		json_object_set_new(to, "default", json_true());
}

static void
schema_of_word(const struct field *f, enum way way, json_t *to)
{
	json_t *words = json_array();

	for (int w = 0; word_text(f->set, w) != NULL; w++)
		json_array_append_new(words, json_string(word_text(f->set, w)));
	json_object_set_new(to, "type", json_string("string"));
	json_object_set_new(to, "enum", words);
	if (way == INPUT && !f->needed)
		json_object_set_new(
		    to, "default", json_string(word_text(f->set, (int)f->fallback)));
}

static void
schema_of_array(const struct field *f, enum way way, json_t *items, json_t *to)
{
	json_object_set_new(to, "type", json_string("array"));
	json_object_set_new(to, "items", items);
	if (way == INPUT)
		return;
	if (f->low > 0)
		json_object_set_new(to, "minItems", whole(f->low));
	json_object_set_new(to, "maxItems", whole(f->high));
}

static void
schema_of_texts(const struct field *f, enum way way, json_t *to)
{
	json_t *items = json_pack("{s:s}", "type", "string");

	if (way == OUTPUT)
		json_object_set_new(items, "maxLength", whole(FIELD_TEXTS_ITEM));
	schema_of_array(f, way, items, to);
}

static void
schema_of_item(const struct field *f, enum way way, json_t *to)
{
	json_t *inner = describe(f->of, way);

	json_object_update(to, inner);
	json_decref(inner);
}

static void
schema_of_list(const struct field *f, enum way way, json_t *to)
{
	schema_of_array(f, way, describe(f->of, way), to);
}

static json_t *
describe(enum msg_id id, enum way way)
{
	static void (*const schema_of[])(const struct field *, enum way, json_t *) = {
		[KIND_TEXT] = schema_of_text,
		[KIND_PAGE] = schema_of_text,
		[KIND_BLOB] = schema_of_blob,
		[KIND_ANY] = schema_of_any,
		[KIND_UINT] = schema_of_number,
		[KIND_INT] = schema_of_number,
		[KIND_REAL] = schema_of_number,
		[KIND_FLAG] = schema_of_flag,
		[KIND_WORD] = schema_of_word,
		[KIND_TEXTS] = schema_of_texts,
		[KIND_ITEM] = schema_of_item,
		[KIND_LIST] = schema_of_list,
	};
	const struct message *m = &messages[id];
	json_t *properties = json_object(), *required = json_array();

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		if (f->own || (f->also && way == INPUT))
			continue;

		json_t *property = json_object();

		schema_of[f->kind](f, way, property);
		json_object_set_new(property, "description", json_string(f->doc));
		json_object_set_new(properties, f->name, property);
		if (f->needed || (way == OUTPUT && field_is_number(f)))
			json_array_append_new(required, json_string(f->name));
	}
	json_t *schema = json_pack("{s:s, s:o}", "type", "object", "properties", properties);

	if (way == OUTPUT || json_array_size(required) > 0)
		json_object_set(schema, "required", required);
	json_decref(required);
	if (way == OUTPUT)
		json_object_set_new(schema, "additionalProperties", json_false());
	return schema;
}

json_t *
jschema_input(enum msg_id id)
{
	return describe(id, INPUT);
}

json_t *
jschema_output(enum msg_id id)
{
	return describe(id, OUTPUT);
}
