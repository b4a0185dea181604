/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argument.c - converts the user's text to the JSON of an argument.
 *
 * The user is trusted; the server checks bounds. Only what JSON cannot express is refused here, and
 * names that the tool does not know, because a person misspells them.
 */
#include "compose/cloister/argument.h"

#include "compose/cloister/nearest.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <string.h>

static const struct field *
find(enum msg_id tool, const char *name, size_t size)
{
	const struct message *m = &messages[tool];

	for (size_t i = 0; i < m->nfields; i++)
		if (m->fields[i].name_size == size && memcmp(m->fields[i].name, name, size) == 0)
			return &m->fields[i];
	return NULL;
}

/* "a, b, c": what clients may send. */
static void
write_names(enum msg_id tool, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < messages[tool].nfields && used < size; i++)
		if (!messages[tool].fields[i].own)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
			    used > 0 ? ", " : "", messages[tool].fields[i].name);
}

static int
unknown(enum msg_id tool, const char *name, size_t size, struct err *e)
{
	char wanted[64], all[256] = "none";
	struct nearest near = { .wanted = wanted };

	snprintf(wanted, sizeof wanted, "%.*s", (int)size, name);
	for (size_t i = 0; i < messages[tool].nfields; i++)
		nearest_offer(&near, messages[tool].fields[i].name);
	write_names(tool, all, sizeof all);
	if (near.name != NULL)
		return err_set(e, ERR_invalid_argument,
		    "%s has no argument '%s'; did you mean '%s'?", messages[tool].name, wanted,
		    near.name);
	return err_set(e, ERR_invalid_argument, "%s has no argument '%s'; its arguments are %s",
	    messages[tool].name, wanted, all);
}

/* ---- one value ---- */

static json_t *
as_text(const char *text)
{
	return json_string(text);
}

static json_t *
as_json(const char *text)
{
	return json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
}

static json_t *
as_any(const char *text)
{
	json_t *value = as_json(text);

	return value != NULL ? value : json_string(text);
}

/* A JSON array, or texts separated by commas. */
static json_t *
as_texts(const char *text)
{
	json_t *list = text[0] == '[' ? as_json(text) : json_array();

	if (text[0] == '[')
		return list;
	while (*text != '\0') {
		size_t size = strcspn(text, ",");

		if (json_array_append_new(list, json_stringn(text, size)) < 0) {
			json_decref(list);
			return NULL;
		}
		text += size + (text[size] == ',');
	}
	return list;
}

/* what: in an error; help: NULL: the words are listed. */
static const struct {
	json_t *(*read)(const char *text);
	const char *what, *help;
} readers[] = {
	[KIND_TEXT] = { as_text, "UTF-8", "text" },
	[KIND_PAGE] = { as_text, "UTF-8", "text" },
	[KIND_BLOB] = { as_text, "UTF-8", "base64" },
	[KIND_ANY] = { as_any, "UTF-8", "JSON, or a text" },
	[KIND_UINT] = { as_json, "a number", "number" },
	[KIND_INT] = { as_json, "a number", "number" },
	[KIND_REAL] = { as_json, "a number", "number" },
	[KIND_FLAG] = { as_json, "true or false", "true or false" },
	[KIND_WORD] = { as_text, "UTF-8", NULL },
	[KIND_TEXTS] = { as_texts, "a JSON array", "a,b,c or a JSON array" },
	[KIND_ITEM] = { as_json, "a JSON object", "JSON object, or NAME.MEMBER=VALUE" },
	[KIND_LIST] = { as_json, "a JSON array", "JSON array" },
};

static int
set(json_t *in, const char *name, enum kind kind, const char *text, struct err *e)
{
	json_t *value = readers[kind].read(text);

	if (value == NULL)
		return err_set(e, ERR_invalid_argument, "%s: '%.64s' is not %s", name, text,
		    readers[kind].what);
	if (json_object_set_new(in, name, value) < 0)
		return err_set(e, ERR_invalid_argument, "%s: the name is not UTF-8", name);
	return 0;
}

/* The object of that name in `in`, which is made if it is missing. */
static json_t *
member(json_t *in, const char *name)
{
	json_t *object = json_object_get(in, name);

	if (!json_is_object(object)) {
		object = json_object();
		must(json_object_set_new(in, name, object) == 0);
	}
	return object;
}

int
argument_set(json_t *arguments, enum msg_id tool, const char *path, const char *text, struct err *e)
{
	if (tool == MSG_none)
		return set(arguments, path, KIND_ANY, text, e);

	size_t size = strcspn(path, ".");
	const struct field *field = find(tool, path, size);

	if (field == NULL)
		return unknown(tool, path, size, e);
	if (path[size] == '\0')
		return set(arguments, field->name, field->kind, text, e);
	if (field->kind != KIND_ITEM)
		return err_set(e, ERR_invalid_argument, "%s has no members", field->name);
	return argument_set(member(arguments, field->name), field->of, path + size + 1, text, e);
}

int
argument_set_text(json_t *arguments, const char *name, const struct blob *text, struct err *e)
{
	json_t *value = json_stringn(text->data, text->size);

	if (value == NULL)
		return err_set(e, ERR_invalid_argument, "the program is not UTF-8");
	must(json_object_set_new(arguments, name, value) == 0);
	return 0;
}

void
argument_set_bytes(json_t *arguments, const char *name, const struct blob *bytes)
{
	size_t room = sodium_base64_ENCODED_LEN(bytes->size, sodium_base64_VARIANT_ORIGINAL);
	char *text = malloc(room);

	must(text != NULL);
	sodium_bin2base64(text, room, bytes->data, bytes->size, sodium_base64_VARIANT_ORIGINAL);
	must(json_object_set_new(arguments, name, json_string(text)) == 0);
	explicit_bzero(text, room);
	free(text);
}

int
argument_add(json_t *arguments, const char *name, const char *text, struct err *e)
{
	json_t *list = json_object_get(arguments, name);

	if (list == NULL) {
		list = json_array();
		must(json_object_set_new(arguments, name, list) == 0);
	}
	return json_array_append_new(list, json_string(text)) == 0
	           ? 0
	           : err_set(e, ERR_invalid_argument, "%s: not UTF-8", name);
}

/* ---- help ---- */

static void
print_words(enum word_set set, FILE *to)
{
	const char *word;

	for (int i = 0; (word = word_text(set, i)) != NULL; i++)
		fprintf(to, "%s%s", i > 0 ? "|" : "", word);
}

static void
print_field(const struct field *field, FILE *to)
{
	fprintf(to, "\n  %s%s  (", field->name, field->needed ? ", required" : "");
	if (readers[field->kind].help != NULL)
		fputs(readers[field->kind].help, to);
	else
		print_words(field->set, to);
	fprintf(to, ")\n        %s\n", field->doc);
}

void
argument_help(enum msg_id tool, FILE *to)
{
	const struct message *m = &messages[tool];

	fprintf(to, "usage: cloister call %s [NAME=VALUE...]\n\n%s\n", m->name, m->doc);
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (!f->own)
			print_field(f, to);
}
