/* SPDX-License-Identifier: Apache-2.0 */
/* hint.c - guesses at what was meant: a similar name, a value in quotes; trusts no text's length.
 */
#include "validator/schema/hint.h"

#include "validator/schema/document.h"
#include "validator/schema/node.h"
#include "validator/schema/place.h"

#include "common/base/auto.h"
#include "common/base/similar.h"

#include <stdio.h>
#include <string.h>

enum {
	LONGEST = 64,     /* bytes of names that are compared */
	MOST_NAMES = 256, /* of which so many */
};

/* Does the object lack a property of that name? */
static bool
is_free(const struct problem_facts *facts, const char *name)
{
	return json_object_get(facts->place->of, name) == NULL;
}

/* The schema describes or requires a property with a similar name, which the value does not have.
 */
static bool
hint_additional(const struct problem_facts *facts, char *text, size_t size)
{
	struct similar nearest = similar_to(facts->place->key);
	json_t *described = json_object_get(facts->node->schema, "properties");
	json_t *required = json_object_get(facts->node->schema, "required"), *one;
	const char *key;
	size_t n = 0, i;

	json_object_foreach(described, key, one) if (n++ < MOST_NAMES && is_free(facts, key))
	    similar_consider(&nearest, key);
	json_array_foreach(required, i, one) if (i < MOST_NAMES && json_is_string(one) &&
						 is_free(facts, json_string_value(one)))
	    similar_consider(&nearest, json_string_value(one));
	if (nearest.best != NULL)
		snprintf(text, size, "Did you mean \"%.64s\"?", nearest.best);
	else
		snprintf(text, size, "Remove it.");
	return true;
}

/* The value has a property with a similar name, which the schema does not describe. */
static bool
hint_required(const struct problem_facts *facts, char *text, size_t size)
{
	const char *key, *open = strchr(facts->expected, '"');
	char name[LONGEST + 1];
	json_t *value;
	size_t n = 0;

	if (open == NULL || strlen(open) > LONGEST + 1)
		return false;
	snprintf(name, sizeof name, "%.*s", (int)strlen(open) - 2, open + 1);
	struct similar nearest = similar_to(name);
	json_t *described = json_object_get(facts->node->schema, "properties");
	json_object_foreach((json_t *)(uintptr_t)facts->value, key,
	    value) if (n++ < MOST_NAMES && json_object_get(described, key) == NULL)
	    similar_consider(&nearest, key);
	if (nearest.best == NULL)
		return false;
	snprintf(text, size, "Rename \"%.64s\" to \"%s\".", nearest.best, name);
	return true;
}

static bool
hint_choice(const struct problem_facts *facts, char *text, size_t size)
{
	const json_t *choices = json_object_get(facts->node->schema, "enum");
	json_t *choice;
	size_t i;

	if (!json_is_string(facts->value))
		return false;
	struct similar nearest = similar_to(json_string_value(facts->value));
	json_array_foreach(
	    (json_t *)(uintptr_t)choices, i, choice) if (json_is_string(choice) && i < MOST_NAMES)
	    similar_consider(&nearest, json_string_value(choice));
	if (nearest.best == NULL)
		return false;
	snprintf(text, size, "Did you mean \"%.64s\"?", nearest.best);
	return true;
}

/* A value that was put into quotes, or that lacks them. */
static bool
hint_type(const struct problem_facts *facts, char *text, size_t size)
{
	unsigned types = facts->node->types;
	char shown[64];

	value_print(facts->value, shown, sizeof shown);
	if (json_is_string(facts->value)) {
		struct document inner;
		struct err error;
		bool fits =
		    document_read(&inner, "The text is not JSON", json_string_value(facts->value),
			json_string_length(facts->value), &error) == 0 &&
		    (value_types(inner.value, false) & types) != 0;
		bool json = facts->place == NULL && (types & (VALUE_object | VALUE_array)) != 0;

		document_free(&inner);
		if (fits)
			snprintf(text, size, "Write the value itself, without quotes around it.");
		else if (json)
			snprintf(text, size, "%.150s.", error.text);
		return fits || json;
	}
	if ((types & VALUE_string) != 0 &&
	    (json_is_number(facts->value) || json_is_boolean(facts->value))) {
		snprintf(text, size, "Put it into quotes: \"%s\".", shown);
		return true;
	}
	if ((types & VALUE_array) != 0 && !json_is_null(facts->value) &&
	    !json_is_object(facts->value)) {
		snprintf(text, size, "Put it into brackets: [%s].", shown);
		return true;
	}
	return false;
}

bool
hint_write(const struct problem_facts *facts, char *text, size_t size)
{
	switch (facts->keyword) {
	case KEYWORD_type:
		return hint_type(facts, text, size);
	case KEYWORD_enum:
		return hint_choice(facts, text, size);
	case KEYWORD_required:
	case KEYWORD_required_4:
		return hint_required(facts, text, size);
	case KEYWORD_additional:
	case KEYWORD_additional_4:
	case KEYWORD_unevaluated_properties:
		return hint_additional(facts, text, size);
	default:
		return false;
	}
}
