/* SPDX-License-Identifier: Apache-2.0 */
/* offer.c - JSON Schema of TAKE rows, and its check; arguments come from a model. */
#include "gateway/compat/offer.h"

#include "gateway/rpc/write.h"

#include "common/base/auto.h"
#include "common/codec/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct rows_offer *
offer_find(enum rows_system system, const char *tool)
{
	for (const struct rows_offer *o = rows_offers; o->tool != NULL; o++)
		if (o->system == system && strcmp(o->tool, tool) == 0)
			return o;
	return NULL;
}

static bool
is_of(const struct rows_take *row, const struct rows_offer *offer)
{
	return row->system == offer->system && strcmp(row->tool, offer->tool) == 0;
}

/* ---- the schema ---- */

static json_t *
words_of(const char *type)
{
	json_t *words = json_array();

	for (size_t size; *type != '\0'; type += size + (type[size] == '|')) {
		size = strcspn(type, "|");
		json_array_append_new(words, json_stringn(type, size));
	}
	return words;
}

/* Of "number<=300". */
static bool
has_most(const char *type)
{
	return strstr(type, "<=") != NULL;
}

static json_int_t
most_of(const char *type)
{
	return strtoll(strstr(type, "<=") + 2, NULL, 10);
}

static bool
is_type(const char *type, const char *name)
{
	return strlen(name) == strcspn(type, "<") && strncmp(type, name, strlen(name)) == 0;
}

static json_t *
schema_of(const struct rows_take *row)
{
	json_t *schema;

	if (strchr(row->type, '|') != NULL)
		schema = json_pack("{s:s, s:o}", "type", "string", "enum", words_of(row->type));
	else if (strcmp(row->type, "strings") == 0)
		schema = json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
	else if (strcmp(row->type, "any") == 0)
		schema = json_object();
	else if (strcmp(row->type, "string?") == 0)
		schema = json_pack("{s:[{s:s}, {s:s}]}", "anyOf", "type", "string", "type", "null");
	else
		schema = json_pack("{s:s%}", "type", row->type, strcspn(row->type, "<"));
	if (has_most(row->type))
		json_object_set_new(schema, "maximum", json_integer(most_of(row->type)));
	json_object_set_new(schema, "description", json_string(row->doc));
	if (row->fallback != NULL && row->fallback != rows_needed)
		json_object_set_new(
		    schema, "default", json_loads(row->fallback, JSON_DECODE_ANY, NULL));
	return schema;
}

json_t *
offer_schema(const struct rows_offer *offer)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++) {
		if (!is_of(row, offer) || row->doc == NULL)
			continue;
		json_object_set_new(properties, row->name, schema_of(row));
		if (row->fallback == rows_needed)
			json_array_append_new(required, json_string(row->name));
	}
	return json_pack(
	    "{s:s, s:o, s:o}", "type", "object", "properties", properties, "required", required);
}

/* ---- the schema of results ---- */

static json_t *
type_schema(const char *type)
{
	json_t *one = json_pack("{s:s%}", "type", type, strcspn(type, "?"));

	return strchr(type, '?') == NULL
	           ? one
	           : json_pack("{s:[o, {s:s}]}", "anyOf", one, "type", "null");
}

static json_t *
object_schema(void)
{
	return json_pack("{s:s, s:{}, s:[]}", "type", "object", "properties", "required");
}

/* The schema of the objects that have the key's last name: of the list before "[].", or whole. */
static json_t *
place_of_key(json_t *whole, const char *key, const char **name)
{
	const char *end = strstr(key, "[].");
	json_t *properties = json_object_get(whole, "properties"), *list;
	size_t size = end == NULL ? 0 : (size_t)(end - key);

	*name = end == NULL ? key : end + 3;
	if (end == NULL)
		return whole;
	list = json_object_getn(properties, key, size);
	if (list == NULL) {
		list = json_pack("{s:s, s:o}", "type", "array", "items", object_schema());
		json_object_setn_new(properties, key, size, list);
		json_array_append_new(json_object_get(whole, "required"), json_stringn(key, size));
	}
	return json_object_get(list, "items");
}

static void
add_key(json_t *whole, const struct rows_result *row)
{
	const char *name;
	json_t *object = place_of_key(whole, row->key, &name);

	json_object_set_new(json_object_get(object, "properties"), name, type_schema(row->type));
	if (strchr(row->type, '?') == NULL)
		json_array_append_new(json_object_get(object, "required"), json_string(name));
}

/* NULL: the system says nothing of results. */
static json_t *
output_schema(const struct rows_offer *offer)
{
	json_t *whole = NULL;

	for (const struct rows_result *row = rows_results; row->tool != NULL; row++)
		if (row->system == offer->system && strcmp(row->tool, offer->tool) == 0) {
			whole = whole == NULL ? object_schema() : whole;
			add_key(whole, row);
		}
	return whole == NULL
	           ? NULL
	           : json_pack("{s:s, s:{s:{s:[o, {s:s, s:{s:{s:s}, s:{s:s}}, s:[s, s]}]}}, s:[s], "
			       "s:b}",
			 "type", "object", "properties", "result", "anyOf", whole, "type", "object",
			 "properties", "error", "type", "string", "message", "type", "string",
			 "required", "error", "message", "required", "result",
			 "x-fastmcp-wrap-result", 1);
}

/* ---- the list ---- */

json_t *
offer_list(enum rows_system system, const struct revision *revision)
{
	json_t *list = json_array();

	for (const struct rows_offer *o = rows_offers; o->tool != NULL; o++) {
		unsigned hints = messages[o->ours].hints;
		json_t *tool;

		if (o->system != system)
			continue;
		tool = json_pack("{s:s, s:s, s:o}", "name", o->tool, "description", o->doc,
		    "inputSchema", offer_schema(o));
		json_t *output = revision->structured ? output_schema(o) : NULL;

		if (output != NULL)
			json_object_set_new(tool, "outputSchema", output);
		if (revision->annotations)
			json_object_set_new(tool, "annotations",
			    json_pack("{s:b, s:b}", "readOnlyHint",
				o->ours == MSG_none || (hints & READ_ONLY) != 0, "destructiveHint",
				(hints & DESTRUCTIVE) != 0));
		json_array_append_new(list, write_constant(tool));
	}
	return list;
}

/* ---- the check ---- */

static bool
is_strings(const json_t *value)
{
	const json_t *item;
	size_t i;

	json_array_foreach(value, i, item) if (!json_is_string(item)) return false;
	return json_is_array(value);
}

static bool
fits(const char *type, const json_t *value)
{
	if (strcmp(type, "any") == 0)
		return true;
	if (strcmp(type, "strings") == 0)
		return is_strings(value);
	if (is_type(type, "integer"))
		return json_is_integer(value) ||
		       (json_is_real(value) &&
			   json_real_value(value) == (double)(int64_t)json_real_value(value));
	if (is_type(type, "number"))
		return json_is_number(value);
	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(value);
	if (strcmp(type, "object") == 0)
		return json_is_object(value);
	return json_is_string(value);
}

static bool
is_word(const char *type, const json_t *value)
{
	json_auto_t *words = strchr(type, '|') != NULL ? words_of(type) : NULL;
	json_t *word;
	size_t i;

	json_array_foreach(words, i, word) if (json_equal(word, value)) return true;
	return words == NULL;
}

/* At most 100 bytes of it, as JSON. */
static char *
refusal(const struct rows_take *row, const json_t *value)
{
	auto_free char *shown =
	    large_dump(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
	const char *type = strcmp(row->type, "strings") == 0 ? "array" : row->type;
	char *text = NULL;
	bool words = strchr(row->type, '|') != NULL;

	if (asprintf(&text, "%s: %.100s is not %s '%.*s'", row->name, shown != NULL ? shown : "",
		words ? "one of" : "of type", (int)strcspn(type, "<"), type) < 0)
		return NULL;
	return text;
}

static bool
is_over(const char *type, const json_t *value)
{
	return has_most(type) && json_number_value(value) > (double)most_of(type);
}

static char *
too_much(const struct rows_take *row, const json_t *value)
{
	char *text = NULL;

	return asprintf(&text, "%s: %g is greater than the maximum of %" JSON_INTEGER_FORMAT,
		   row->name, json_number_value(value), most_of(row->type)) < 0
	           ? NULL
	           : text;
}

/* No number of these tools needs more digits than a double has. */
void
offer_round(const struct rows_offer *offer, json_t *arguments)
{
	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++) {
		bool number = is_type(row->type, "integer") || is_type(row->type, "number");
		json_t *nearest = is_of(row, offer) && number
		                      ? large_nearest(json_object_get(arguments, row->name))
		                      : NULL;

		if (nearest != NULL)
			json_object_set_new(arguments, row->name, nearest);
	}
}

char *
offer_refuse(const struct rows_offer *offer, const json_t *arguments)
{
	char *text = NULL;

	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++) {
		const json_t *value = json_object_get(arguments, row->name);

		if (!is_of(row, offer))
			continue;
		if (value == NULL || json_is_null(value)) {
			if (row->fallback != rows_needed)
				continue;
			if (asprintf(&text, "'%s' is a required property", row->name) < 0)
				return NULL;
			return text;
		}
		if (!fits(row->type, value) || !is_word(row->type, value))
			return refusal(row, value);
		if (is_over(row->type, value))
			return too_much(row, value);
	}
	return NULL;
}
