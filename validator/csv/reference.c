/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - the values of one column of a text, as a set; trusts neither text nor names. */
#include "validator/csv/reference.h"

#include "validator/csv/dialect.h"
#include "validator/csv/options.h"

#include "common/base/loop.h"

#include <string.h>

enum {
	CLOCK_ROWS = 1024,
};

/* A column that is read. */
struct source {
	struct table *table;
	struct table_column *field; /* with the rule */
	bool begun;                 /* its header was read */
	bool found;
	size_t column;
	uint64_t rows;
};

static int
on_cell(void *self, const struct scan_cell *cell, struct err *e)
{
	struct source *source = self;
	const char *name = source->field->rule.references;
	uint64_t first;

	if (!source->begun) {
		if (!source->found && strlen(name) == cell->size &&
		    memcmp(name, cell->text, cell->size) == 0) {
			source->found = true;
			source->column = cell->index;
		}
		return 0;
	}
	if (cell->index != source->column || cell->size == 0 ||
	    distinct_add(&source->field->values, &source->table->budget, cell->text, cell->size,
		source->rows, &first) != DISTINCT_FULL)
		return 0;
	return err_set(e, ERR_limit_exceeded,
	    "type_constraints.%.60s.references: over %d distinct values in all sets",
	    source->field->name, TABLE_MAX_DISTINCT);
}

static int
on_row(void *self, size_t cells, uint64_t line, struct err *e)
{
	struct source *source = self;

	(void)cells;
	(void)line;
	if (!source->begun && !source->found)
		return err_set(e, ERR_invalid_argument,
		    "type_constraints.%.60s.references: there is no column \"%.60s\"",
		    source->field->name, source->field->rule.references);
	source->begun = true;
	if (++source->rows % CLOCK_ROWS != 0 || loop_now_ms() <= source->table->until_ms)
		return 0;
	return err_set(e, ERR_limit_exceeded,
	    "type_constraints.%.60s.references: its values take too long to read; send fewer rows",
	    source->field->name);
}

static int
read_values(struct table *t, struct table_column *field, const struct blob *whole, struct err *e)
{
	const char *other = field->rule.reference_csv;
	struct source source = { .table = t, .field = field };
	struct scan scan = other == NULL ? options_scan(t) : (struct scan){ .quote = '"' };
	size_t size = other == NULL ? whole->size : strlen(other);
	const char *text = other == NULL ? whole->data : other;

	if (other == NULL && !t->ask->has_header)
		return err_set(e, ERR_invalid_argument,
		    "type_constraints.%.60s.references: names of columns need a header",
		    field->name);
	if (other != NULL)
		scan.delimiter = dialect_detect(&scan, text, size).delimiter;
	scan.cell = on_cell;
	scan.row = on_row;
	scan.self = &source;
	int status = scan_feed(&scan, text, size, e);
	if (status == 0)
		status = scan_finish(&scan, e);
	scan_close(&scan);
	/* A text without a row has no column either. */
	return status == 0 && !source.begun ? on_row(&source, 0, 0, e) : status;
}

int
reference_begin(struct table *t, const struct blob *whole, struct err *e)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->fields[i].has_rule && t->fields[i].rule.references != NULL &&
		    read_values(t, &t->fields[i], whole, e) < 0)
			return -1;
	return 0;
}
