/* SPDX-License-Identifier: Apache-2.0 */
/* width.c - one error for all rows with the same wrong number of cells; trusts nothing. */
#include "validator/csv/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 320 };

/* NULL: there are too many already. */
static struct table_width *
find_width(struct table *t, size_t cells, bool trailing)
{
	for (size_t i = 0; i < t->width_count; i++)
		if (t->widths[i].cells == cells && t->widths[i].trailing == trailing)
			return &t->widths[i];
	if (t->width_count == TABLE_WIDTHS)
		return NULL;
	struct table_width *made = &t->widths[t->width_count++];
	*made = (struct table_width){ .cells = cells, .trailing = trailing };
	return made;
}

static const char *
explain(size_t cells, size_t expected, bool trailing)
{
	if (!trailing)
		return "";
	return cells == expected + 1 ? ", because a delimiter ends it"
	                             : ", of which the last are empty";
}

void
width_report(struct table *t, size_t cells)
{
	bool trailing = cells > t->count && !t->extra;
	struct table_width *width = find_width(t, cells, trailing);
	struct fault fault = { "columns", NULL, NULL, 0 };
	size_t listed = t->out->errors.count;

	if (width != NULL && width->rows++ > 0) {
		t->out->error_count++;
		if (width->rows - 2 < TABLE_LINES)
			width->lines[width->rows - 2] = t->line;
		return;
	}
	table_report(t, &fault, "the row has %zu cells, expected %zu%s", cells, t->count,
	    explain(cells, t->count, trailing));
	if (width != NULL && t->out->errors.count > listed)
		width->error = t->out->errors.count;
}

static void
say_rows(struct table *t, const struct table_width *width, struct csv_error *error)
{
	char text[MAX_TEXT];
	uint64_t more = width->rows - 1;
	const char *many = more > 1 ? "s" : "";
	int used = snprintf(text, sizeof text, "%s; so it is in %" PRIu64 " more row%s, line%s",
	    error->message, more, many, many);

	for (size_t i = 0; i < more && i < TABLE_LINES; i++)
		used += snprintf(text + used, sizeof text - (size_t)used, "%s %" PRIu64,
		    i > 0 ? "," : "", width->lines[i]);
	snprintf(text + used, sizeof text - (size_t)used, "%s", more > TABLE_LINES ? ", ..." : "");
	free(error->message);
	error->message = strdup(text);
	t->failed |= error->message == NULL;
}

void
width_finish(struct table *t)
{
	for (size_t i = 0; i < t->width_count; i++)
		if (t->widths[i].error > 0 && t->widths[i].rows > 1)
			say_rows(t, &t->widths[i], &t->out->errors.items[t->widths[i].error - 1]);
}
