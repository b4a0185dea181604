/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constraint.c - reads a constraint: the name of a type, or an object.
 *
 * Trusts nothing: the JSON comes from a client. Unknown keys are errors, so that a misspelt rule is
 * not silently without effect.
 */
#include "validator/csv/constraint.h"

#include "validator/csv/moment.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MAX_PATTERN = 1024, /* bytes */
	MAX_FORMATS = 16,
	MAX_WITH = 16,
};

struct reading {
	struct constraint *to;
	const char *column, *key;
	json_t *whole;
};

static int PRINTF(3, 4) wrong(const struct reading *r, struct err *e, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(e, ERR_invalid_argument, "type_constraints.%.60s%s%s: %s", r->column,
	    r->key != NULL ? "." : "", r->key != NULL ? r->key : "", text);
}

/* ---- texts ---- */

/* Adds a scalar as the cell that it would be. */
static int
add_scalar(const struct reading *r, struct texts *texts, json_t *value, struct err *e)
{
	char number[64];
	const char *text = json_string_value(value);

	if (json_is_integer(value))
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		snprintf(number, sizeof number, "%.17g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(number, sizeof number, "%s", json_is_true(value) ? "true" : "false");
	else if (text == NULL)
		return wrong(r, e, "must be text, a number or a boolean");
	return texts_add(texts, text != NULL ? text : number) < 0 ? err_sys(e, "keep a value") : 0;
}

static int
add_scalars(const struct reading *r, struct texts *texts, json_t *value, size_t most, struct err *e)
{
	size_t i;
	json_t *one;

	if (!json_is_array(value))
		return add_scalar(r, texts, value, e);
	if (json_array_size(value) > most)
		return wrong(r, e, "has more than %zu values", most);
	json_array_foreach(value, i, one) if (add_scalar(r, texts, one, e) < 0) return -1;
	return 0;
}

/* ---- keys ---- */

static int
read_type(struct reading *r, json_t *value, struct err *e)
{
	const char *name = json_string_value(value);
	int type = name != NULL ? value_parse(name) : -1;

	if (type < 0)
		return wrong(r, e, "must be one of %s", value_names());
	r->to->type = (enum value_type)type;
	r->to->nullable = type == VALUE_string;
	return 0;
}

static int
read_flag(const struct reading *r, json_t *value, bool *flag, struct err *e)
{
	if (!json_is_boolean(value))
		return wrong(r, e, "must be true or false");
	*flag = json_is_true(value);
	return 0;
}

static int
read_nullable(struct reading *r, json_t *value, struct err *e)
{
	return read_flag(r, value, &r->to->nullable, e);
}

static int
read_not_null(struct reading *r, json_t *value, struct err *e)
{
	int status = read_flag(r, value, &r->to->nullable, e);

	r->to->nullable = !r->to->nullable;
	return status;
}

static int
read_unique(struct reading *r, json_t *value, struct err *e)
{
	if (!json_is_array(value))
		return read_flag(r, value, &r->to->unique, e);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_string(json_array_get(value, i)))
			return wrong(r, e, "must be a boolean, or names of other columns");
	return add_scalars(r, &r->to->with, value, MAX_WITH, e);
}

static int
read_optional(struct reading *r, json_t *value, struct err *e)
{
	return read_flag(r, value, &r->to->optional, e);
}

static int
read_bound(struct reading *r, json_t *value, long double *bound, char shown[CONSTRAINT_SHOWN],
    struct err *e)
{
	enum value_type type = r->to->type;
	struct texts text = { 0 };

	if (!value_is_ordered(type))
		return wrong(r, e, "is for int, float, date and datetime, not %s; see min_length",
		    value_name(type));
	if (add_scalar(r, &text, value, e) < 0)
		return -1;
	snprintf(shown, CONSTRAINT_SHOWN, "%s", text.items[0]);
	/* An integer may have the bound 0.5. */
	bool fits = value_read(
	    type == VALUE_int ? VALUE_float : type, text.items[0], &r->to->formats, bound);
	texts_clear(&text);
	return fits ? 0 : wrong(r, e, "must be %s", value_expected(type));
}

static int
read_min(struct reading *r, json_t *value, struct err *e)
{
	r->to->has_min = true;
	return read_bound(r, value, &r->to->min, r->to->min_text, e);
}

static int
read_max(struct reading *r, json_t *value, struct err *e)
{
	r->to->has_max = true;
	return read_bound(r, value, &r->to->max, r->to->max_text, e);
}

static int
read_length(struct reading *r, json_t *value, uint64_t *length, struct err *e)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return wrong(r, e, "must be a number of characters");
	*length = (uint64_t)json_integer_value(value);
	r->to->has_length = true;
	return 0;
}

static int
read_min_length(struct reading *r, json_t *value, struct err *e)
{
	return read_length(r, value, &r->to->min_length, e);
}

static int
read_max_length(struct reading *r, json_t *value, struct err *e)
{
	return read_length(r, value, &r->to->max_length, e);
}

static int
read_exact_length(struct reading *r, json_t *value, struct err *e)
{
	int status = read_length(r, value, &r->to->min_length, e);

	r->to->max_length = r->to->min_length;
	return status;
}

static int
read_pattern(struct reading *r, json_t *value, struct err *e)
{
	const char *text = json_string_value(value);
	PCRE2_SIZE at;
	int code;
	PCRE2_UCHAR why[120];

	if (text == NULL || json_string_length(value) > MAX_PATTERN)
		return wrong(r, e, "must be a regular expression of at most %d bytes", MAX_PATTERN);
	if (r->to->pattern != NULL)
		return wrong(r, e, "is given twice");
	/* \C would split characters; UTF was checked by the gateway and by Jansson. */
	r->to->pattern = pcre2_compile((PCRE2_SPTR)text, json_string_length(value),
	    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_ANCHORED | PCRE2_ENDANCHORED,
	    &code, &at, NULL);
	if (r->to->pattern == NULL) {
		pcre2_get_error_message(code, why, sizeof why);
		return wrong(r, e, "at %zu: %s", (size_t)at, (char *)why);
	}
	r->to->match = pcre2_match_data_create(1, NULL);
	must(r->to->match != NULL);
	snprintf(r->to->pattern_text, sizeof r->to->pattern_text, "%s", text);
	return 0;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
read_words(struct reading *r, json_t *value, struct err *e)
{
	if (!json_is_array(value) || json_array_size(value) == 0)
		return wrong(r, e, "must be a list of values");
	if (add_scalars(r, &r->to->words, value, SIZE_MAX, e) < 0)
		return -1;
	qsort(r->to->words.items, r->to->words.count, sizeof(char *), compare);
	return 0;
}

static int
read_references(struct reading *r, json_t *value, struct err *e)
{
	const char *csv = json_string_value(json_object_get(value, "csv"));
	const char *column = json_is_object(value)
	                         ? json_string_value(json_object_get(value, "column"))
	                         : json_string_value(value);

	if (column == NULL ||
	    (json_is_object(value) && (csv == NULL || json_object_size(value) != 2)))
		return wrong(
		    r, e, "must be the name of a column, or {csv, column} with another table");
	r->to->references = strdup(column);
	r->to->reference_csv = csv != NULL ? strdup(csv) : NULL;
	return r->to->references == NULL || (csv != NULL && r->to->reference_csv == NULL)
	           ? err_sys(e, "keep a reference")
	           : 0;
}

static int
read_nulls(struct reading *r, json_t *value, struct err *e)
{
	r->to->nullable = true;
	return add_scalars(r, &r->to->nulls, value, MAX_FORMATS, e);
}

static int
read_format(struct reading *r, json_t *value, struct err *e)
{
	if (r->to->type != VALUE_date && r->to->type != VALUE_datetime)
		return wrong(r, e, "is for date and datetime, not %s", value_name(r->to->type));
	if (add_scalars(r, &r->to->formats, value, MAX_FORMATS, e) < 0)
		return -1;
	for (size_t i = 0; i < r->to->formats.count; i++)
		if (!moment_format(r->to->formats.items[i]))
			return wrong(r, e,
			    "\"%.40s\" has an unknown directive; known: "
			    "%%Y %%m %%d %%H %%I %%M %%S %%f %%y %%b %%B %%p %%z %%j",
			    r->to->formats.items[i]);
	return 0;
}

/* Read in this order, because a bound depends on the type and its formats. */
static const struct key {
	const char *name;
	int (*read)(struct reading *, json_t *value, struct err *);
} keys[] = {
	{ "type", read_type },
	{ "format", read_format },
	{ "formats", read_format },
	{ "nullable", read_nullable },
	{ "null_values", read_nulls },
	{ "required", read_not_null },
	{ "unique", read_unique },
	{ "optional", read_optional },
	{ "min", read_min },
	{ "minimum", read_min },
	{ "max", read_max },
	{ "maximum", read_max },
	{ "length", read_exact_length },
	{ "min_length", read_min_length },
	{ "minLength", read_min_length },
	{ "max_length", read_max_length },
	{ "maxLength", read_max_length },
	{ "pattern", read_pattern },
	{ "regex", read_pattern },
	{ "enum", read_words },
	{ "values", read_words },
	{ "references", read_references },
};

static bool
is_key(const char *name)
{
	for (size_t i = 0; i < COUNT(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return true;
	return false;
}

static int
check_order(struct reading *r, struct err *e)
{
	const struct constraint *to = r->to;

	r->key = NULL;
	if (to->has_min && to->has_max && to->min > to->max)
		return wrong(r, e, "min %s is over max %s", to->min_text, to->max_text);
	if (to->min_length > to->max_length)
		return wrong(r, e, "min_length is over max_length");
	return 0;
}

static int
read_object(struct reading *r, struct err *e)
{
	const char *name;
	json_t *value;

	json_object_foreach(r->whole, name, value) if (!is_key(name)) return wrong(r, e,
	    "unknown key \"%.30s\"; known: type, format, nullable, null_values, "
	    "unique, optional, min, max, length, min_length, max_length, pattern, enum, references",
	    name);
	for (size_t i = 0; i < COUNT(keys); i++) {
		if ((value = json_object_get(r->whole, keys[i].name)) == NULL)
			continue;
		r->key = keys[i].name;
		if (keys[i].read(r, value, e) < 0)
			return -1;
	}
	return check_order(r, e);
}

int
constraint_read(struct constraint *to, const char *column, json_t *json, struct err *e)
{
	struct reading r = { .to = to, .column = column, .whole = json };

	*to = (struct constraint){
		.type = VALUE_string, .nullable = true, .only_type = true, .max_length = UINT64_MAX
	};
	if (json_is_string(json))
		return read_type(&r, json, e);
	if (!json_is_object(json))
		return wrong(&r, e, "must be the name of a type or an object");
	int status = read_object(&r, e);
	to->only_type = !to->unique && !to->has_length && to->pattern == NULL &&
	                to->nulls.count == 0 && to->words.count == 0 && to->references == NULL;
	return status;
}

void
constraint_clear(struct constraint *c)
{
	pcre2_code_free(c->pattern);
	pcre2_match_data_free(c->match);
	free(c->references);
	free(c->reference_csv);
	texts_clear(&c->formats);
	texts_clear(&c->nulls);
	texts_clear(&c->words);
	texts_clear(&c->with);
	*c = (struct constraint){ 0 };
}
