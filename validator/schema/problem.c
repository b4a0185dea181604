/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c - a problem as a model can use it: where, what was expected, what is there, what to do.
 *
 * Trusts no text: keys and values come from a client and may have any length.
 */
#include "validator/schema/problem.h"

#include "validator/schema/hint.h"
#include "validator/schema/node.h"
#include "validator/schema/place.h"
#include "validator/schema/uri.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	PATH_BYTES = 2048,
	TEXT_BYTES = 1024,
	SHOWN = 200, /* bytes of a value */
};

/* A copy within the bounds of schema.def; cut at a character. */
static char *
copy(const char *text, size_t most)
{
	size_t size = strlen(text);
	bool cut;
	struct blob fitted = utf8_fit(text, size, most, "...", &cut);

	must(fitted.data != NULL);
	return fitted.data;
}

/* The pointer of RFC 6901 from the outside to the inside; too long a one is cut in its middle. */
static char *
path_of(const struct place *place)
{
	struct arena arena = { 0 };
	const char *path = "";
	char index[24];
	char *text;

	for (; place != NULL && strlen(path) <= PATH_BYTES; place = place->up) {
		snprintf(index, sizeof index, "%zu", place->index);
		const char *one = uri_append(&arena, "", place->key != NULL ? place->key : index);
		path = arena_print(&arena, "%s%s", one, path);
	}
	text = copy(path, PATH_BYTES);
	arena_free(&arena);
	return text;
}

/* node->where is a subschema; for the schema false its last part is the keyword itself. */
static const char *
keyword_name(const struct problem_facts *facts)
{
	return facts->keyword == KEYWORD_COUNT ? "false" : keyword_rows[facts->keyword].name;
}

static char *
schema_path(const struct problem_facts *facts)
{
	struct arena arena = { 0 };
	const char *where = facts->node->where;

	if (facts->keyword != KEYWORD_COUNT)
		where = uri_append(&arena, where, keyword_name(facts));
	char *text = copy(where, PATH_BYTES);
	arena_free(&arena);
	return text;
}

/* The fault of an object that lacks a property is not what else it has. */
static bool
is_absence(const struct problem_facts *facts)
{
	static const bool absences[KEYWORD_COUNT + 1] = { [KEYWORD_required] = true,
		[KEYWORD_required_4] = true,
		[KEYWORD_dep_required] = true,
		[KEYWORD_dependencies] = true };

	return absences[facts->keyword];
}

static char *
message_of(const char *path, const char *expected, const char *actual, bool absence)
{
	char text[2 * TEXT_BYTES];

	snprintf(text, sizeof text, "%s%sexpected %s%s %s", path, path[0] != '\0' ? ": " : "",
	    expected, absence ? "; it is" : ", found", actual);
	return copy(text, sizeof text - 1);
}

void
problem_add(struct problems *problems, const struct problem_facts *facts)
{
	char actual[SHOWN], hint[TEXT_BYTES];

	problems->total++;
	if (problems->count >= problems->most)
		return;
	struct schema_error *error = list_add(&problems->items, sizeof *error);
	must(error != NULL);
	if (is_absence(facts))
		snprintf(actual, sizeof actual, "absent");
	else
		value_print(facts->value, actual, sizeof actual);
	*error = (struct schema_error){
		.instance_path = path_of(facts->place),
		.schema_path = schema_path(facts),
		.keyword = strdup(keyword_name(facts)),
		.expected = copy(facts->expected, TEXT_BYTES),
		.actual = copy(actual, TEXT_BYTES),
		.part_of = problems->parent,
	};
	must(error->keyword != NULL);
	error->message =
	    message_of(error->instance_path, error->expected, error->actual, is_absence(facts));
	if (hint_write(facts, hint, sizeof hint))
		error->hint = copy(hint, TEXT_BYTES);
}

void
problem_forget(struct problems *problems, size_t count, uint64_t total)
{
	while (problems->count > count)
		message_clear(MSG_schema_error, &problems->items[--problems->count]);
	problems->total = total;
}

/* How far a branch of anyOf or oneOf is from what was meant: another type is far, so is a constant.
 */
uint64_t
problem_distance(const struct problems *problems, size_t from, uint64_t total, const char *path)
{
	uint64_t distance = problems->total - total;

	for (size_t i = from; i < problems->count; i++) {
		const struct schema_error *error = &problems->items[i];
		bool same = strcmp(error->instance_path, path) == 0;
		bool choice =
		    strcmp(error->keyword, "const") == 0 || strcmp(error->keyword, "enum") == 0;

		distance += same && strcmp(error->keyword, "type") == 0 ? 1000 : choice ? 100 : 0;
	}
	return distance;
}

void
problem_clear(struct problems *problems)
{
	problem_forget(problems, 0, 0);
	free(problems->items);
	problems->items = NULL;
}
