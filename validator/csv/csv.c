/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - a check of CSV, from the request to the report.
 *
 * Trusts nothing: text and constraints come from a client.
 */
#include "validator/csv/csv.h"

#include "validator/csv/dialect.h"
#include "validator/csv/encoding.h"
#include "validator/csv/table.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_TEXT = 256,       /* bytes of the summary */
	SAMPLE = 64 << 10,    /* bytes that the delimiter is detected by */
	MATCH_STEPS = 100000, /* of one regular expression on one cell */
	MATCH_KIB = 16 << 10,
};

static const char *const delimiter_names[][2] = { { "tab", "\t" }, { "\\t", "\t" },
	{ "comma", "," }, { "semicolon", ";" }, { "pipe", "|" }, { "space", " " } };

/* The one that the caller gave, or zero. */
static int
read_delimiter(const struct validate_csv_data *ask, char *delimiter, struct err *e)
{
	const char *given = ask->delimiter;

	*delimiter = '\0';
	for (size_t i = 0; given != NULL && i < COUNT(delimiter_names); i++)
		if (strcmp(given, delimiter_names[i][0]) == 0)
			given = delimiter_names[i][1];
	if (given != NULL && (strlen(given) != 1 || strchr("\"\r\n", *given) != NULL ||
				 (unsigned char)*given >= 128))
		return err_set(e, ERR_invalid_argument,
		    "delimiter: must be one ASCII character other than a quote and the end of a "
		    "line, or tab, comma, semicolon, pipe or space");
	if (given != NULL)
		*delimiter = *given;
	return 0;
}

/* Leaves the end of a line that declares the delimiter in the text, where it counts as a line. */
static int
choose_delimiter(struct table *t, struct blob *text, struct err *e)
{
	size_t skipped = dialect_declared(text->data, text->size, &t->declared);

	if (read_delimiter(t->ask, &t->delimiter, e) < 0)
		return -1;
	if (skipped > 0)
		*text = (struct blob){ (char *)text->data + skipped, text->size - skipped };
	else
		t->declared = '\0';
	if (t->delimiter == '\0')
		t->delimiter = t->declared;
	if (t->delimiter == '\0')
		t->delimiter =
		    dialect_detect(text->data, text->size < SAMPLE ? text->size : SAMPLE);
	return 0;
}

static int
read_rules(struct table *t, struct err *e)
{
	const struct blob *json = &t->ask->type_constraints;
	json_error_t why;

	if (json->size == 0)
		return 0;
	t->rules = json_loadb(json->data, json->size, JSON_REJECT_DUPLICATES, &why);
	if (t->rules == NULL)
		return err_set(e, ERR_invalid_argument,
		    "type_constraints: must be an object, as in {\"age\": \"int\"}: %s", why.text);
	if (!json_is_object(t->rules))
		return err_set(e, ERR_invalid_argument,
		    "type_constraints: must be an object, as in {\"age\": \"int\"}");
	return 0;
}

static const char *
line_end(const struct blob *text)
{
	const char *data = text->data, *lf = text->size > 0 ? memchr(data, '\n', text->size) : NULL;
	const char *cr = text->size > 0 ? memchr(data, '\r', text->size) : NULL;

	if (cr != NULL && (lf == NULL || cr + 1 == lf))
		return lf == NULL ? "cr" : "crlf";
	return cr != NULL && cr < lf ? "cr" : "lf";
}

static int
report_dialect(const struct table *t, const struct blob *text, const char *encoding, struct err *e)
{
	struct csv_dialect *dialect = calloc(1, sizeof *dialect);

	t->out->dialect = dialect;
	if (dialect == NULL)
		return err_sys(e, "report a dialect");
	dialect->delimiter = strndup(&t->delimiter, 1);
	dialect->line_end = strdup(line_end(text));
	dialect->encoding = strdup(encoding);
	dialect->has_header = t->ask->has_header;
	return dialect->delimiter == NULL || dialect->line_end == NULL || dialect->encoding == NULL
	           ? err_sys(e, "report a dialect")
	           : 0;
}

static int
report_columns(struct table *t, struct err *e)
{
	for (size_t i = 0; i < t->count; i++) {
		struct csv_column *column = list_add(&t->out->columns, sizeof *column);

		if (column == NULL || (column->name = strdup(t->fields[i].name)) == NULL)
			return err_sys(e, "report a column");
		if (column_report(&t->fields[i].column, column, e) < 0)
			return -1;
	}
	return 0;
}

static int
report_verdict(struct table *t, struct err *e)
{
	char text[MAX_TEXT];
	const struct csv_report *out = t->out;
	int used;

	if (out->error_count == 0)
		used = snprintf(text, sizeof text, "%" PRIu64 " rows in %zu columns, no error",
		    out->row_count, t->count);
	else
		used = snprintf(text, sizeof text,
		    "%" PRIu64 " errors in %" PRIu64 " rows, of which %zu are listed",
		    out->error_count, out->row_count, out->errors.count);
	if (t->declared != '\0' && t->declared != t->delimiter)
		snprintf(text + used, sizeof text - (size_t)used,
		    "; the text's first line, sep=%s, was skipped, because delimiter was given",
		    t->declared == '\t' ? "\\t" : (char[]){ t->declared, '\0' });
	t->out->valid = out->error_count == 0;
	t->out->message = strdup(text);
	return t->out->message == NULL || t->failed
	           ? err_set(e, ERR_limit_exceeded, "csv_content: no memory left for the report")
	           : 0;
}

static int
check_table(struct table *t, struct blob text, const char *encoding, struct err *e)
{
	if (read_rules(t, e) < 0 || choose_delimiter(t, &text, e) < 0 ||
	    report_dialect(t, &text, encoding, e) < 0 || table_check(t, &text, e) < 0)
		return -1;
	return report_columns(t, e) < 0 ? -1 : report_verdict(t, e);
}

static void
close_table(struct table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->fields[i].name);
		constraint_clear(&t->fields[i].rule);
		column_close(&t->fields[i].column);
		distinct_close(&t->fields[i].unique);
	}
	free(t->fields);
	pcre2_match_context_free(t->match);
	json_decref(t->rules);
	free(t);
}

static struct table *
open_table(const struct validate_csv_data *ask, struct csv_report *out)
{
	struct table *t = calloc(1, sizeof *t);

	must(t != NULL);
	t->ask = ask;
	t->out = out;
	t->until_ms = loop_now_ms() + TABLE_MAX_MS;
	t->match = pcre2_match_context_create(NULL);
	must(t->match != NULL);
	pcre2_set_match_limit(t->match, MATCH_STEPS);
	pcre2_set_heap_limit(t->match, MATCH_KIB);
	distinct_begin(&t->budget, TABLE_MAX_DISTINCT);
	return t;
}

int
csv_check(struct validate_csv_data *ask, struct csv_report *out, struct err *e)
{
	bool bytes = ask->csv_base64.data != NULL;
	struct blob *text = bytes ? &ask->csv_base64 : &ask->csv_content;

	if (bytes == (ask->csv_content.data != NULL))
		return err_set(e, ERR_invalid_argument, "give csv_content or csv_base64");
	const char *encoding = encoding_convert(text, e);
	if (encoding == NULL)
		return -1;
	struct table *t = open_table(ask, out);
	int status = check_table(t, *text, encoding, e);
	close_table(t);
	return status;
}
