/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - one function for each rule of a column; trusts nothing. */
#include "validator/csv/cell.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <string.h>

struct cell {
	const char *data;
	size_t size;
	/* The same without surrounding blanks, terminated; "" with long true: longer than a type.
	 */
	char text[VALUE_MAX];
	bool is_long;
};

static void
trim(struct cell *cell)
{
	const char *data = cell->data;
	size_t size = cell->size;

	while (size > 0 && (data[size - 1] == ' ' || data[size - 1] == '\t'))
		size--;
	while (size > 0 && (*data == ' ' || *data == '\t')) {
		data++;
		size--;
	}
	cell->is_long = size >= sizeof cell->text;
	if (cell->is_long)
		size = 0;
	memcpy(cell->text, data, size);
	cell->text[size] = '\0';
}

static bool
contains(const struct texts *texts, const struct cell *cell)
{
	size_t low = 0, high = texts->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strncmp(cell->data, texts->items[middle], cell->size);
		if (order == 0 && texts->items[middle][cell->size] != '\0')
			order = -1;
		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

static bool
is_null(const struct constraint *rule, const struct cell *cell)
{
	for (size_t i = 0; i < rule->nulls.count; i++)
		if (strcmp(rule->nulls.items[i], cell->text) == 0)
			return true;
	return cell->text[0] == '\0' && !cell->is_long;
}

static void
check_bounds(struct table *t, const struct constraint *rule, long double number, struct fault fault)
{
	if (rule->has_min && number < rule->min) {
		fault.rule = "min";
		table_report(t, &fault, "is less than %s", rule->min_text);
	}
	if (rule->has_max && number > rule->max) {
		fault.rule = "max";
		table_report(t, &fault, "is greater than %s", rule->max_text);
	}
}

static bool
is_number(const struct constraint *rule)
{
	return rule->type == VALUE_int || rule->type == VALUE_float;
}

static bool
read_number(const struct numerals *numerals, enum value_type type, const struct cell *cell,
    long double *number)
{
	char plain[VALUE_MAX];

	return value_plain(numerals, cell->text, plain) && value_read(type, plain, NULL, number);
}

static bool
read_cell(const struct table *t, const struct constraint *rule, const struct cell *cell,
    long double *number)
{
	if (cell->is_long)
		return false;
	if (is_number(rule) && t->has_numerals)
		return read_number(&t->numerals, rule->type, cell, number);
	return value_read(rule->type, cell->text, &rule->formats, number);
}

/* Would it be a number if it were read as these numerals? */
static const char *
hint(const struct constraint *rule, const struct cell *cell)
{
	static const struct {
		struct numerals numerals;
		const char *text;
	} tried[] = {
		{ { '.', ',' }, "; if a comma groups digits, give thousands \",\"" },
		{ { ',', '\0' }, "; if a comma is the decimal point, give decimal \",\"" },
		{ { ',', '.' }, "; is it of decimal \",\" and thousands \".\"?" },
	};
	long double number;

	for (size_t i = 0; is_number(rule) && !cell->is_long && i < COUNT(tried); i++)
		if (read_number(&tried[i].numerals, rule->type, cell, &number))
			return tried[i].text;
	return "";
}

static void
check_type(
    struct table *t, const struct constraint *rule, const struct cell *cell, struct fault fault)
{
	long double number = 0;

	if (rule->type == VALUE_string)
		return;
	if (read_cell(t, rule, cell, &number)) {
		check_bounds(t, rule, number, fault);
		return;
	}
	fault.rule = rule->formats.count > 0 ? "format" : "type";
	if (rule->formats.count > 0)
		table_report(t, &fault, "is no %s in the format %s", value_name(rule->type),
		    rule->formats.items[0]);
	else
		table_report(t, &fault, "expected %s%s", value_expected(rule->type),
		    t->has_numerals ? "" : hint(rule, cell));
}

static void
check_length(
    struct table *t, const struct constraint *rule, const struct cell *cell, struct fault fault)
{
	uint64_t length = rule->has_length ? value_length(cell->data, cell->size) : 0;

	fault.rule = "length";
	if (length < rule->min_length)
		table_report(t, &fault, "has %" PRIu64 " characters, the minimum is %" PRIu64,
		    length, rule->min_length);
	else if (length > rule->max_length)
		table_report(t, &fault, "has %" PRIu64 " characters, the maximum is %" PRIu64,
		    length, rule->max_length);
}

static void
check_pattern(
    struct table *t, const struct constraint *rule, const struct cell *cell, struct fault fault)
{
	if (rule->pattern == NULL)
		return;
	int r = pcre2_match(rule->pattern, (PCRE2_SPTR)cell->data, cell->size, 0,
	    PCRE2_NO_UTF_CHECK, rule->match, t->match);
	fault.rule = "pattern";
	if (r == PCRE2_ERROR_NOMATCH)
		table_report(t, &fault, "does not match %s", rule->pattern_text);
	else if (r < 0)
		table_report(t, &fault, "matching %s took too many steps: simplify the expression",
		    rule->pattern_text);
}

static int
check_unique(struct table *t, struct table_column *field, const struct cell *cell,
    struct fault fault, struct err *e)
{
	uint64_t first = 0;

	if (!field->rule.unique)
		return 0;
	switch (distinct_add(&field->unique, &t->budget, cell->data, cell->size, t->row, &first)) {
	case DISTINCT_KNOWN:
		fault.rule = "unique";
		table_report(t, &fault, "is already in row %" PRIu64, first);
		return 0;
	case DISTINCT_FULL:
		return err_set(e, ERR_limit_exceeded,
		    "type_constraints: over %d distinct values in all unique columns",
		    TABLE_MAX_DISTINCT);
	default:
		return 0;
	}
}

static int
check_fully(
    struct table *t, struct table_column *column, const char *data, size_t size, struct err *e)
{
	const struct constraint *rule = &column->rule;
	struct fault fault = { NULL, column->name, data, size };
	struct cell cell;

	cell.data = data;
	cell.size = size;
	trim(&cell);
	if (is_null(rule, &cell)) {
		fault.rule = "nullable";
		if (!rule->nullable)
			table_report(
			    t, &fault, "is empty; expected %s", value_expected(rule->type));
		return 0;
	}
	check_type(t, rule, &cell, fault);
	check_length(t, rule, &cell, fault);
	check_pattern(t, rule, &cell, fault);
	fault.rule = "enum";
	if (rule->words.count > 0 && !contains(&rule->words, &cell))
		table_report(t, &fault,
		    "is not one of the %zu allowed values, of which the first is %.60s",
		    rule->words.count, rule->words.items[0]);
	fault.rule = "references";
	if (rule->references != NULL && !distinct_has(&column->values, &t->budget, data, size))
		table_report(t, &fault, "is no value of column \"%.60s\"%s", rule->references,
		    rule->reference_csv != NULL ? " of the other table" : "");
	return check_unique(t, column, &cell, fault, e);
}

/* Is the cell as it must be? Most are text that may be anything, or a short number. False: it may
 * be. Nothing is prepared for a report here, because that would take longer than the check. */
static bool
is_right(const struct table *t, const struct constraint *rule, const char *data, size_t size)
{
	struct value_number number;

	if (!rule->only_type)
		return false;
	if (rule->type == VALUE_string)
		return rule->nullable;
	return is_number(rule) && !t->has_numerals && value_short(data, size, &number) &&
	       (rule->type != VALUE_int || number.is_int) &&
	       (!rule->has_min || number.value >= rule->min) &&
	       (!rule->has_max || number.value <= rule->max);
}

int
cell_check(
    struct table *t, struct table_column *column, const char *data, size_t size, struct err *e)
{
	if (is_right(t, &column->rule, data, size))
		return 0;
	return check_fully(t, column, data, size, e);
}
