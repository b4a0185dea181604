/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - checks a table row by row as the parser delivers its cells.
 *
 * Trusts nothing. Memory is bounded by the header, one cell, the listed errors and the budget of
 * distinct values; time by TABLE_MAX_MS.
 */
#include "validator/csv/table.h"

#include "validator/csv/cell.h"
#include "validator/csv/key.h"
#include "validator/csv/options.h"
#include "validator/csv/reference.h"
#include "validator/csv/width.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_VALUE = 256, /* bytes of a cell in an error */
	MAX_TEXT = 320,  /* bytes of an error's message */
	MAX_NAME = 256,  /* bytes of a column's name */
	CLOCK_ROWS = 64,
};

void
table_report(struct table *t, const struct fault *fault, const char *fmt, ...)
{
	char text[MAX_TEXT];
	va_list ap;

	t->out->error_count++;
	if (t->out->errors.count >= t->ask->max_errors)
		return;
	struct csv_error *error = list_add(&t->out->errors, sizeof *error);
	if (error == NULL) {
		t->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	size_t size = fault->size <= MAX_VALUE ? fault->size : utf8_whole(fault->value, MAX_VALUE);
	*error = (struct csv_error){
		.row = t->row,
		.line = t->line,
		.column = fault->column != NULL ? strdup(fault->column) : NULL,
		.value = fault->value != NULL ? strndup(fault->value, size) : NULL,
		.rule = strdup(fault->rule),
		/* A name may be cut within a character. */
		.message = utf8_mend(text, strlen(text)).data,
	};
	t->failed |= error->rule == NULL || error->message == NULL;
}

/* ---- the header ---- */

/* A zeroed one; wide tables are rare, so the array grows. */
static struct table_column *
next_field(struct table *t)
{
	if (t->count == t->room) {
		size_t room = t->room > 0 ? t->room * 2 : 16;
		struct table_column *fields = realloc(t->fields, room * sizeof *fields);

		if (fields == NULL)
			return NULL;
		t->fields = fields;
		t->room = room;
	}
	t->fields[t->count] = (struct table_column){ 0 };
	return &t->fields[t->count];
}

static int
add_field(struct table *t, const char *name, size_t size, struct err *e)
{
	struct table_column *field = next_field(t);
	char made[32];

	if (field == NULL)
		return err_sys(e, "keep a header");
	if (size == 0) {
		size = (size_t)snprintf(made, sizeof made, "column_%zu", t->count + 1);
		name = made;
	}
	field->name = strndup(name, size <= MAX_NAME ? size : utf8_whole(name, MAX_NAME));
	if (field->name == NULL)
		return err_sys(e, "keep a header");
	column_begin(&field->column);
	field->column.numerals = t->has_numerals ? &t->numerals : NULL;
	t->count++;
	json_t *rule = t->rules != NULL ? json_object_get(t->rules, field->name) : NULL;
	field->has_rule = rule != NULL;
	if (rule == NULL)
		return 0;
	if (constraint_read(&field->rule, field->name, rule, e) < 0)
		return -1;
	t->has_pattern |= field->rule.pattern != NULL;
	/* Where a number is asked for, zeros before it do not make a code of it. */
	field->column.is_number = field->rule.type == VALUE_int || field->rule.type == VALUE_float;
	return 0;
}

static const struct table_column *
find_field(const struct table *t, const char *name, int (*differ)(const char *, const char *))
{
	for (size_t i = 0; i < t->count; i++)
		if (differ(t->fields[i].name, name) == 0)
			return &t->fields[i];
	return NULL;
}

/* What people and programs write in names in each other's place, or without seeing it: blanks,
 * U+00A0, U+200B, the byte order mark. */
static const char *
skip_joint(const char *text)
{
	static const char *const joints[] = { " ", "_", "-", "\t", "\n", "\r", "\xc2\xa0",
		"\xe2\x80\x8b", "\xef\xbb\xbf" };

	for (size_t i = 0; i < COUNT(joints);) {
		size_t size = strlen(joints[i]);
		bool found = strncmp(text, joints[i], size) == 0;

		text += found ? size : 0;
		i = found ? 0 : i + 1;
	}
	return text;
}

/* Do the names differ by more than case and joints? */
static int
differ_much(const char *a, const char *b)
{
	for (;; a++, b++) {
		a = skip_joint(a);
		b = skip_joint(b);
		if (strncasecmp(a, b, 1) != 0)
			return 1;
		if (*a == '\0')
			return 0;
	}
}

static void
report_missing(struct table *t, const char *name)
{
	const struct table_column *close = find_field(t, name, strcasecmp);
	struct fault fault = { "header", name, NULL, 0 };

	if (close != NULL)
		table_report(t, &fault, "column '%.60s' is missing; '%.60s' differs in case", name,
		    close->name);
	else if ((close = find_field(t, name, differ_much)) != NULL)
		table_report(t, &fault,
		    "column '%.60s' is missing; column %td, '%.60s', differs only in case, blanks, "
		    "_, - or invisible characters",
		    name, close - t->fields + 1, close->name);
	else
		table_report(t, &fault, "column '%.60s' is missing", name);
}

static void
check_duplicates(struct table *t)
{
	struct distinct names = { 0 };
	uint64_t first;

	for (size_t i = 0; i < t->count; i++) {
		const char *name = t->fields[i].name;
		struct fault fault = { "header", name, NULL, 0 };

		if (distinct_add(&names, &t->budget, name, strlen(name), i + 1, &first) ==
		    DISTINCT_KNOWN)
			table_report(
			    t, &fault, "column %zu has the name of column %" PRIu64, i + 1, first);
	}
	distinct_close(&names);
}

/* Rules of columns that are not there: they are read, so that their errors are seen. */
static int
check_absent_rules(struct table *t, struct err *e)
{
	const char *name;
	json_t *json;

	json_object_foreach(t->rules, name, json)
	{
		struct constraint rule;

		if (find_field(t, name, strcmp) != NULL)
			continue;
		int status = constraint_read(&rule, name, json, e);
		bool optional = rule.optional;
		constraint_clear(&rule);
		if (status < 0)
			return -1;
		if (!optional)
			report_missing(t, name);
	}
	return 0;
}

static int
check_header(struct table *t, struct err *e)
{
	const struct texts *wanted = &t->ask->required_headers;

	t->has_header = true;
	t->row = 0;
	check_duplicates(t);
	for (size_t i = 0; i < wanted->count; i++)
		if (find_field(t, wanted->items[i], strcmp) == NULL &&
		    (t->rules == NULL || json_object_get(t->rules, wanted->items[i]) == NULL))
			report_missing(t, wanted->items[i]);
	if (t->rules == NULL)
		return 0;
	if (check_absent_rules(t, e) < 0 || key_begin(t, e) < 0)
		return -1;
	return reference_begin(t, t->text, e);
}

/* ---- rows ---- */

static void
check_quotes(struct table *t, const struct scan_cell *cell)
{
	const struct table_column *field = cell->index < t->count ? &t->fields[cell->index] : NULL;
	struct fault fault = { "quote", field != NULL ? field->name : NULL, cell->text,
		cell->size };

	t->line = cell->line;
	if (cell->unclosed)
		table_report(t, &fault, "the quote that opens in line %" PRIu64 " is not closed",
		    cell->line);
	else if (cell->stray && t->escape == '\0' && memchr(cell->text, '\\', cell->size) != NULL)
		table_report(t, &fault,
		    "text follows the closing quote; if a backslash protects quotes, give escape");
	else if (cell->stray)
		table_report(
		    t, &fault, "text follows the closing quote; double a quote within quotes");
}

static int
on_cell(void *self, const struct scan_cell *cell, struct err *e)
{
	struct table *t = self;

	if (cell->index == 0)
		t->row = t->has_header || !t->ask->has_header ? t->out->row_count + 1 : 0;
	if (cell->unclosed || cell->stray)
		check_quotes(t, cell);
	if (!t->has_header && t->ask->has_header)
		return add_field(t, cell->text, cell->size, e);
	if (!t->has_header && add_field(t, "", 0, e) < 0)
		return -1;
	if (cell->index >= t->count) {
		t->extra |= cell->size > 0;
		return 0;
	}
	t->line = cell->line;
	struct table_column *field = &t->fields[cell->index];
	if (t->ask->statistics)
		column_add(&field->column, &t->budget, cell->text, cell->size);
	if (field->keys != 0 && key_add(t, cell->index, cell->text, cell->size, e) < 0)
		return -1;
	if (!field->has_rule)
		return 0;
	return cell_check(t, field, cell->text, cell->size, e);
}

/* A row with a pattern may take long; of others, the clock would be most of the work. */
static bool
is_late(const struct table *t)
{
	return (t->has_pattern || t->out->row_count % CLOCK_ROWS == 0) &&
	       loop_now_ms() > t->until_ms;
}

static int
on_row(void *self, size_t cells, uint64_t line, struct err *e)
{
	struct table *t = self;
	t->line = line;
	if (!t->has_header) {
		if (check_header(t, e) < 0)
			return -1;
		if (t->ask->has_header)
			return 0;
	}
	t->row = ++t->out->row_count;
	if (cells != t->count)
		width_report(t, cells);
	t->extra = false;
	if (t->key_count > 0 && key_check(t, e) < 0)
		return -1;
	for (size_t i = cells; i < t->count; i++)
		column_skip(&t->fields[i].column);
	if (is_late(t))
		return err_set(e, ERR_limit_exceeded,
		    "csv_content: the check of %" PRIu64 " rows took %" PRId64
		    " s; send fewer rows or simpler patterns",
		    t->out->row_count, t->most_ms / 1000);
	return t->failed ? err_set(e, ERR_limit_exceeded, "csv_content: no memory left") : 0;
}

int
table_check(struct table *t, const struct blob *text, struct err *e)
{
	t->text = text;
	struct scan scan = options_scan(t);
	struct fault fault = { "header", NULL, NULL, 0 };

	scan.cell = on_cell;
	scan.row = on_row;
	scan.self = t;
	int status = scan_feed(&scan, text->data, text->size, e);
	if (status == 0)
		status = scan_finish(&scan, e);
	scan_close(&scan);
	if (status == 0 && !t->has_header) {
		table_report(t, &fault, "there is no row");
		status = check_header(t, e);
	}
	return status;
}
