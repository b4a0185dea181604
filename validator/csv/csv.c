/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - a check of CSV, from the request to the report.
 *
 * Trusts nothing: text and constraints come from a client.
 */
#include "validator/csv/csv.h"

#include "validator/csv/dialect.h"
#include "validator/csv/encoding.h"
#include "validator/csv/key.h"
#include "validator/csv/note.h"
#include "validator/csv/options.h"
#include "validator/csv/table.h"
#include "validator/csv/width.h"

#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MATCH_STEPS = 100000, /* of one regular expression on one cell */
	MATCH_KIB = 16 << 10,
	BYTES_EACH_MS = 10 << 10,
};

/* Bytes of so many lines; *lines: fewer, if the text ends before. */
static size_t
measure_lines(const struct blob *text, uint64_t *lines)
{
	const char *data = text->data;
	size_t at = 0;
	uint64_t n = 0;

	for (; n < *lines && at < text->size; n++) {
		while (at < text->size && data[at] != '\n' && data[at] != '\r')
			at++;
		at += at + 1 < text->size && data[at] == '\r' && data[at + 1] == '\n';
		at += at < text->size;
	}
	*lines = n;
	return at;
}

/* Leaves the end of a line that declares the delimiter in the text, where it counts as a line. */
static void
skip_lines(struct table *t, struct blob *text)
{
	size_t declared = dialect_declared(text->data, text->size, &t->declared);

	t->skipped = t->ask->skip_lines;
	size_t skipped = measure_lines(text, &t->skipped);
	if (declared == 0)
		t->declared = '\0';
	if (skipped < declared)
		skipped = declared;
	if (skipped > 0)
		*text = (struct blob){ (char *)text->data + skipped, text->size - skipped };
}

static int
choose_dialect(struct table *t, struct blob *text, struct err *e)
{
	if (options_read(t, e) < 0)
		return -1;
	skip_lines(t, text);
	if (t->delimiter == '\0')
		t->delimiter = t->declared;
	struct scan how = options_scan(t);
	struct dialect found = dialect_detect(&how, text->data, text->size);
	t->delimiter = found.delimiter;
	t->title = found.title;
	t->header = found.header;
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
	for (size_t i = 0; t->ask->statistics && i < t->count; i++) {
		struct csv_column *column = list_add(&t->out->columns, sizeof *column);

		if (column == NULL || (column->name = strdup(t->fields[i].name)) == NULL)
			return err_sys(e, "report a column");
		if (column_report(&t->fields[i].column, column, e) < 0)
			return -1;
	}
	return 0;
}

static int
report_verdict(struct table *t, const struct blob *text, struct err *e)
{
	struct csv_report *out = t->out;
	struct note note = { 0 };

	if (out->error_count == 0)
		note_add(
		    &note, "%" PRIu64 " rows in %zu columns, no error", out->row_count, t->count);
	else
		note_add(&note, "%" PRIu64 " errors in %" PRIu64 " rows, of which %zu are listed",
		    out->error_count, out->row_count, out->errors.count);
	note_table(&note, t, text);
	out->valid = out->error_count == 0;
	out->message = utf8_mend(note.text, note.used).data;
	return out->message == NULL || t->failed
	           ? err_set(e, ERR_limit_exceeded, "csv_content: no memory left for the report")
	           : 0;
}

static int
check_table(struct table *t, struct blob text, const char *encoding, struct err *e)
{
	if (read_rules(t, e) < 0 || choose_dialect(t, &text, e) < 0 ||
	    report_dialect(t, &text, encoding, e) < 0 || table_check(t, &text, e) < 0)
		return -1;
	width_finish(t);
	return report_columns(t, e) < 0 ? -1 : report_verdict(t, &text, e);
}

static void
close_table(struct table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->fields[i].name);
		constraint_clear(&t->fields[i].rule);
		column_close(&t->fields[i].column);
		distinct_close(&t->fields[i].unique);
		distinct_close(&t->fields[i].values);
	}
	key_close(t);
	free(t->fields);
	pcre2_match_context_free(t->match);
	json_decref(t->rules);
	free(t);
}

/* A table over 10 MB gets as much longer as 10 MB a second take. */
static int64_t
most_ms(const struct blob *text)
{
	size_t over = text->size > ENCODING_CONVERTED ? text->size - ENCODING_CONVERTED : 0;

	return TABLE_MAX_MS + (int64_t)(over / BYTES_EACH_MS);
}

static struct table *
open_table(const struct validate_csv_data *ask, int64_t ms, struct csv_report *out)
{
	struct table *t = calloc(1, sizeof *t);

	must(t != NULL);
	t->ask = ask;
	t->out = out;
	t->most_ms = ms;
	t->until_ms = loop_now_ms() + ms;
	t->match = pcre2_match_context_create(NULL);
	must(t->match != NULL);
	pcre2_set_match_limit(t->match, MATCH_STEPS);
	pcre2_set_heap_limit(t->match, MATCH_KIB);
	distinct_begin(&t->budget, TABLE_MAX_DISTINCT);
	return t;
}

int
csv_check_bytes(const struct validate_csv_data *ask, const struct blob *bytes,
    struct csv_report *out, struct err *e)
{
	struct encoded found;

	if (encoding_read(bytes, ask->encoding, &found, e) < 0)
		return -1;

	struct table *t = open_table(ask, most_ms(&found.text), out);

	t->guessed = found.guessed ? found.name : NULL;
	int status = check_table(t, found.text, found.name, e);
	close_table(t);
	blob_clear(&found.made);
	return status;
}

int
csv_check(const struct validate_csv_data *ask, struct csv_report *out, struct err *e)
{
	bool bytes = ask->csv_base64.data != NULL;

	if (bytes == (ask->csv_content.data != NULL) || ask->path != NULL)
		return err_set(
		    e, ERR_invalid_argument, "give csv_content, csv_base64 or the path of a file");
	if (!bytes && ask->encoding != NULL)
		return err_set(e, ERR_invalid_argument, "encoding: is for csv_base64");
	return csv_check_bytes(ask, bytes ? &ask->csv_base64 : &ask->csv_content, out, e);
}
