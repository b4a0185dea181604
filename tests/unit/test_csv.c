/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csv.c - the errors that a check of CSV finds, the types it infers, how it detects dialect
 * and encoding, and which calls it refuses.
 */
#include "validator/csv/csv.h"

#include "validator/csv/dialect.h"
#include "validator/csv/moment.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct checked {
	struct csv_report report;
	struct err error;
	int status;
	char found[2048]; /* "2:age type, 3:id unique" */
};

static void
check(struct checked *c, const char *text, const char *rules, struct validate_csv_data ask)
{
	size_t used = 0;

	*c = (struct checked){ 0 };
	ask.csv_content = blob_text(text);
	if (rules != NULL)
		ask.type_constraints = blob_text(rules);
	c->status = csv_check(&ask, &c->report, &c->error);
	for (size_t n = 0; n < c->report.errors.count && used < sizeof c->found; n++) {
		const struct csv_error *f = &c->report.errors.items[n];

		used +=
		    (size_t)snprintf(c->found + used, sizeof c->found - used, "%s%" PRIu64 ":%s %s",
			n == 0 ? "" : ", ", f->row, f->column != NULL ? f->column : "", f->rule);
	}
	blob_clear(&ask.csv_content);
	blob_clear(&ask.type_constraints);
}

static void
clear(struct checked *c)
{
	message_clear(MSG_csv_report, &c->report);
}

#define AGE "{\"age\": "
static const struct error_case {
	const char *text, *rules, *found;
} cases[] = {
	{ "id,name\n1,Ann\n", NULL, "" },
	{ "id,name\n1,Ann,x\n2\n", NULL, "1: columns, 2: columns" },
	{ "a,a,b\n1,2,3\n", NULL, "0:a header" },
	{ "", NULL, "0: header" },
	{ "a\n1\n", "{\"b\": \"int\"}", "0:b header" },
	{ "a\n1\n", "{\"b\": {\"type\": \"int\", \"optional\": true}}", "" },
	{ "a,a,b,b\n", "{\"A\": \"int\"}", "0:a header, 0:b header, 0:A header" },
	/* quotes */
	{ "a,b\n\"x\"y,1\n", NULL, "1:a quote" },
	{ "a,b\n1,\"x\n2,3\n", NULL, "1:b quote" },
	{ "a,b\n1,5'10\"\n\"a \"\"b\"\"\",2\n", NULL, "" },
	{ "a,b\n\"1\n2\",x\n3,y,z\n", NULL, "2: columns" },
	/* types */
	{ "age\n30\n-4\n+0\n 7 \n", AGE "\"int\"}", "" },
	{ "age\n3.0\nx\n1e3\n0x10\n\"\"\n-\n", AGE "\"integer\"}",
	    "1:age type, 2:age type, 3:age type, 4:age type, 5:age nullable, 6:age type" },
	{ "age\n1\n.5\n5.\n1e-3\n-2.5E+4\n", AGE "\"float\"}", "" },
	{ "age\n.\ne3\n1e\n\"1,5\"\ninf\nnan\n", AGE "\"number\"}",
	    "1:age type, 2:age type, 3:age type, 4:age type, 5:age type, 6:age type" },
	{ "age\ntrue\nNO\n1\nmaybe\n", AGE "\"bool\"}", "4:age type" },
	{ "age\n2024-02-29\n2023-02-29\n2024-2-9\n2024-13-01\n", AGE "\"date\"}",
	    "2:age type, 3:age type, 4:age type" },
	{ "age\n2024-02-29T13:05:00Z\n2024-02-29 13:05\n2024-02-29T13:05:00.25+02:00\n2024-02-29\n"
	  "2024-02-29T24:00\n2024-02-29T13:05:00Zx\n",
	    AGE "\"datetime\"}", "4:age type, 5:age type, 6:age type" },
	{ "age\n29/02/2024\n1 Mar 2024\n2024-01-01\n31/04/2024\n",
	    AGE "{\"type\": \"date\", \"format\": [\"%d/%m/%Y\", \"%d %b %Y\"]}}",
	    "3:age format, 4:age format" },
	{ "age\nann@example.org\nann@example\n@b.cd\na..b@c.de\na@-b.cd\n", AGE "\"email\"}",
	    "2:age type, 3:age type, 4:age type, 5:age type" },
	{ "age\n123e4567-e89b-12d3-a456-426614174000\n123e4567e89b12d3a456426614174000\n",
	    AGE "\"uuid\"}", "2:age type" },
	/* rules */
	{ "age\n1\n5\n9\n", AGE "{\"type\": \"int\", \"min\": 2, \"max\": 8.5}}",
	    "1:age min, 3:age max" },
	{ "age\n9007199254740993\n9007199254740992\n",
	    AGE "{\"type\": \"int\", \"min\": 9007199254740993}}", "2:age min" },
	{ "age\n2023-12-31\n2024-01-01\n", AGE "{\"type\": \"date\", \"min\": \"2024-01-01\"}}",
	    "1:age min" },
	{ "age\nabc\n\xc3\xa9\xc3\xa9\n", AGE "{\"max_length\": 2}}", "1:age length" },
	{ "age\nab1\nab\nxab1\n", AGE "{\"pattern\": \"[a-z]{2}[0-9]\"}}",
	    "2:age pattern, 3:age pattern" },
	{ "age\nred\nblue\n1\nre\n", AGE "{\"enum\": [\"red\", \"green\", 1]}}",
	    "2:age enum, 4:age enum" },
	{ "age,b\n1,x\n2,x\n1,x\n,x\n,x\n",
	    AGE "{\"type\": \"int\", \"unique\": true, \"nullable\": true}}", "3:age unique" },
	{ "age,b\n,x\n", AGE "\"string\"}", "" },
	{ "age,b\n,x\n", AGE "{\"nullable\": false}}", "1:age nullable" },
	{ "age,b\n-,x\nn/a,x\nz,x\n", AGE "{\"type\": \"int\", \"null_values\": [\"-\", \"n/a\"]}}",
	    "3:age type" },
};

static void
finds(void **state)
{
	const struct error_case *c = *state;
	struct checked got;

	check(&got, c->text, c->rules,
	    (struct validate_csv_data){
		.has_header = true, .statistics = true, .max_errors = 100 });
	assert_int_equal(got.status, 0);
	assert_string_equal(got.found, c->found);
	assert_int_equal(got.report.valid, c->found[0] == '\0');
	assert_int_equal(got.report.error_count, got.report.errors.count);
	clear(&got);
}

static const struct refusal {
	const char *rules, *delimiter, *text;
} refusals[] = {
	{ "[1]", NULL, "must be an object" },
	{ "{\"a\": 1, \"a\": 2}", NULL, "duplicate" },
	{ "{\"a\": \"integr\"}", NULL, "type_constraints.a: must be one of int, float" },
	{ "{\"a\": {\"typ\": \"int\"}}", NULL, "unknown key \"typ\"" },
	{ "{\"absent\": {\"min\": 1}}", NULL, "type_constraints.absent.min: is for int" },
	{ "{\"a\": {\"type\": \"int\", \"min\": \"x\"}}", NULL, "a.min: must be an integer" },
	{ "{\"a\": {\"pattern\": \"(\"}}", NULL, "a.pattern: at 1: missing closing" },
	{ "{\"a\": {\"pattern\": \"((a{1,9999}){1,9999}){1,9999}\"}}", NULL, "too large" },
	{ "{\"a\": {\"type\": \"date\", \"format\": \"%Q\"}}", NULL, "unknown directive" },
	{ "{\"a\": {\"enum\": []}}", NULL, "must be a list" },
	{ "{\"a\": {\"type\": \"int\", \"min\": 3, \"max\": 2}}", NULL, "a: min 3 is over max 2" },
	{ "{\"a\": {\"min_length\": 3, \"max_length\": 2}}", NULL, "min_length is over" },
	{ NULL, "ab", "delimiter: must be one" },
	{ NULL, "\"", "delimiter: must be one" },
};

static void
refuses(void **state)
{
	const struct refusal *c = *state;
	struct checked got;

	check(&got, "a\n1\n", c->rules,
	    (struct validate_csv_data){ .has_header = true,
		.statistics = true,
		.max_errors = 100,
		.delimiter = (char *)(uintptr_t)c->delimiter });
	assert_int_equal(got.status, -1);
	assert_int_equal(got.error.code, ERR_invalid_argument);
	if (strstr(got.error.text, c->text) == NULL)
		fail_msg("%s", got.error.text);
	clear(&got);
}

static void
detects_delimiters(void **state)
{
	static const struct {
		const char *text;
		char delimiter;
	} tried[] = {
		{ "a,b\n1,2\n", ',' },
		{ "a;b\n1,5;2,5\n3,1;4,2\n", ';' },
		{ "a\tb, c\n1\t2\n", '\t' },
		{ "a|b|c\r1|2|3\r", '|' },
		{ "\"a;b\",c\n\"1;2\",3\n", ',' },
		{ "name\nAnn\n", ',' },
		{ "a;b", ';' },
		/* Quotes decide between delimiters that split equally well. */
		{ "F1;F2;\"F,3,3,3\"", ';' },
		{ "F1,F2,\"F;3;3;3\"\n", ',' },
		{ "\"a,b,c\"\td\n", '\t' },
		{ "\"a|b|c\",\"d|e\"\n\"1|2|3\",\"4|5\"\n", ',' },
		{ "disk,size\nx,5\"\ny,3\"\n", ',' },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++)
		assert_int_equal(dialect_detect(&(struct scan){ .quote = '"' }, tried[i].text,
				     strlen(tried[i].text))
				     .delimiter,
		    tried[i].delimiter);
}

static void
names_near_columns(void **state)
{
	static const struct {
		const char *head, *wanted, *message;
	} tried[] = {
		{ "Name,x\n", "name", "column 'name' is missing; 'Name' differs in case" },
		{ "x, Name \n", "name", "; column 2, ' Name ', differs only in case, blanks" },
		{ "\"\xef\xbb\xbfname\"\n", "name", "; column 1, " },
		{ "first-name\n", "First_Name", "; column 1, 'first-name', differs only" },
		{ "firstname\n", "first name", "; column 1, 'firstname', differs only" },
		{ "e\xc2\xa0mail\n", "e-mail", "; column 1, " },
		{ "name2\n", "name", NULL },
		{ "_\n", "-", "; column 1, '_', differs" },
		{ "\xe2\x80\x94\n", "-", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;
		struct validate_csv_data ask = {
			.has_header = true, .statistics = true, .max_errors = 9
		};

		assert_int_equal(texts_add(&ask.required_headers, tried[i].wanted), 0);
		check(&got, tried[i].head, NULL, ask);
		assert_int_equal(got.report.error_count, 1);
		const char *message = got.report.errors.items[0].message;
		if (strstr(message, tried[i].message != NULL ? tried[i].message : "'") == NULL ||
		    (tried[i].message == NULL && strchr(message, ';') != NULL))
			fail_msg("%s", message);
		texts_clear(&ask.required_headers);
		clear(&got);
	}
}

static void
infers_codes_as_text(void **state)
{
	static const struct {
		const char *text, *rules, *type, *min;
	} tried[] = {
		{ "a\n00123\n7\n", NULL, "string", "00123" },
		{ "a\n7\n0800100100\n", NULL, "string", "0800100100" },
		{ "a\n-007\n", NULL, "string", "-007" },
		{ "a\n01.10\n", NULL, "string", "01.10" },
		{ "a\n00\n", NULL, "string", "00" },
		{ "a\n0\n0.5\n-0.25\n0e3\n", NULL, "float", "-0.25" },
		{ "a\n0\n10\n", NULL, "int", "0" },
		{ "a\n2024-01-02\n", NULL, "date", "2024-01-02" },
		{ "a\n00123\n7\n", "{\"a\": \"int\"}", "int", "7" },
		{ "a\n00.5\n7\n", "{\"a\": \"float\"}", "float", "00.5" },
		{ "a\n00123\n7\n", "{\"a\": \"string\"}", "string", "00123" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check(&got, tried[i].text, tried[i].rules,
		    (struct validate_csv_data){
			.has_header = true, .statistics = true, .max_errors = 9 });
		assert_int_equal(got.report.valid, true);
		assert_string_equal(got.report.columns.items[0].type, tried[i].type);
		assert_string_equal(got.report.columns.items[0].min, tried[i].min);
		clear(&got);
	}
}

static void
reads_wide_tables(void **state)
{
	enum { COLUMNS = 8192 };
	char text[3 * COLUMNS];
	struct checked got;

	(void)state;
	for (size_t i = 0; i < COLUMNS; i++) {
		text[i] = i + 1 < COLUMNS ? ';' : '\n';
		memcpy(text + COLUMNS + 2 * i, i + 1 < COLUMNS ? "1;" : "1", 2);
	}
	check(&got, text, "{\"column_8192\": \"date\"}",
	    (struct validate_csv_data){ .has_header = true, .statistics = true, .max_errors = 9 });
	assert_string_equal(got.found, "1:column_8192 type");
	assert_int_equal(got.report.columns.count, COLUMNS);
	clear(&got);
}

static const struct declared_case {
	const char *text, *given, *delimiter, *found;
	size_t columns, rows;
	const char *message;
} declared_cases[] = {
	{ "sep=;\nOne;Two\n1;2\n", NULL, ";", "", 2, 1, "no error" },
	{ "sep=,\r\na,b;c\r\n1,2\r\n", NULL, ",", "", 2, 1, "no error" },
	{ "sep=\t\ra\tb\r1\t2\r", NULL, "\t", "", 2, 1, "no error" },
	{ "sep=\\t\na\tb\n1\t2\n", NULL, "\t", "", 2, 1, "no error" },
	{ "\xef\xbb\xbf"
	  "SEP=^\na^b\n",
	    NULL, "^", "", 2, 0, "no error" },
	{ "\"sep=;\"\na;b\n1;2\n", NULL, ";", "", 2, 1, "no error" },
	{ "\"Sep=;\";;\na;b;c\n1;2;3\n", NULL, ";", "", 3, 1, "no error" },
	{ "sep=;\na;b\n1;2;3\n", NULL, ";", "1: columns at 3", 2, 1, "1 errors" },
	{ "sep=;", NULL, ";", "0: header at 0", 0, 0, "1 errors" },
	/* The caller knows better than the text, but hears of it. */
	{ "sep=;\na,b\n1,2\n", "comma", ",", "", 2, 1,
	    "the text's first line, sep=;, was skipped, because delimiter was given" },
	{ "sep=\t\na,b\n1,2\n", ",", ",", "", 2, 1, "sep=\\t, was skipped" },
	{ "sep=;\na;b\n1;2\n", ";", ";", "", 2, 1, "no error" },
	/* Columns, not declarations. */
	{ "sep=a\n1\n", NULL, ",", "", 1, 1, "no error" },
	{ "sep=\n1\n", NULL, ",", "", 1, 1, "no error" },
	{ "sep=;x\n1;2\n", NULL, ";", "", 2, 1, "no error" },
	{ "\"sep=;\n\"\n1\n", NULL, ",", "", 1, 1, "no error" },
	{ "a\nsep=;\n1\n", NULL, ",", "", 1, 2, "no error" },
};

static void
reads_declared_delimiters(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(declared_cases); i++) {
		const struct declared_case *c = &declared_cases[i];
		struct checked got;
		char found[64] = "";

		check(&got, c->text, NULL,
		    (struct validate_csv_data){ .has_header = true,
			.statistics = true,
			.max_errors = 1,
			.delimiter = (char *)(uintptr_t)c->given });
		assert_int_equal(got.status, 0);
		if (got.report.errors.count > 0)
			snprintf(found, sizeof found, "%.30s at %" PRIu64, got.found,
			    got.report.errors.items[0].line);
		assert_string_equal(got.report.dialect->delimiter, c->delimiter);
		assert_string_equal(found, c->found);
		assert_int_equal(got.report.columns.count, c->columns);
		assert_int_equal(got.report.row_count, c->rows);
		if (strstr(got.report.message, c->message) == NULL)
			fail_msg("%s: %s", c->text, got.report.message);
		clear(&got);
	}
}

static const struct {
	const char *encoding, *bytes;
	size_t size;
} encodings[] = {
#define BYTES(s) s, sizeof(s) - 1
	{ "utf-8", BYTES("n;\xc3\xa9\r\n1;2\r\n") },
	{ "utf-8-sig", BYTES("\xef\xbb\xbfn;\xc3\xa9\r\n1;2\r\n") },
	{ "windows-1252", BYTES("n;\xe9\r\n1;2\r\n") },
	{ "utf-16-le", BYTES("\xff\xfen\0;\0\xe9\0\r\0\n\0"
			     "1\0;\0"
			     "2\0\r\0\n\0") },
	{ "utf-16-be", BYTES("\0n\0;\0\xe9\0\r\0\n\0"
			     "1\0;\0"
			     "2\0\r\0\n") },
};

static void
detects_encodings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(encodings); i++) {
		struct validate_csv_data ask = {
			.csv_base64 = blob_copy(encodings[i].bytes, encodings[i].size),
			.has_header = true,
			.statistics = true,
			.max_errors = 1,
		};
		struct csv_report report = { 0 };
		struct err e;

		assert_int_equal(csv_check(&ask, &report, &e), 0);
		assert_string_equal(report.dialect->encoding, encodings[i].encoding);
		assert_string_equal(report.dialect->delimiter, ";");
		assert_string_equal(report.dialect->line_end, "crlf");
		assert_int_equal(report.columns.count, 2);
		assert_string_equal(report.columns.items[0].name, "n");
		assert_string_equal(report.columns.items[1].name, "\xc3\xa9");
		assert_int_equal(report.row_count, 1);
		message_clear(MSG_csv_report, &report);
		blob_clear(&ask.csv_base64);
	}
}

static void
refuses_other_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} tried[] = { { BYTES("a,b\xff\0\1") }, { BYTES("\xff\xfe\x00\xdc") },
		{ BYTES("\xff\xfe"
			"a") } };

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct validate_csv_data ask = { .csv_base64 =
						     blob_copy(tried[i].bytes, tried[i].size) };
		struct csv_report report = { 0 };
		struct err e;

		assert_int_equal(csv_check(&ask, &report, &e), -1);
		assert_int_equal(e.code, ERR_invalid_argument);
		message_clear(MSG_csv_report, &report);
		blob_clear(&ask.csv_base64);
	}
}

static void
infers_columns(void **state)
{
	static const char text[] = "i,f,b,d,t,u,e,s,empty\n"
				   "10,1.5,true,2024-01-02,2024-01-02T03:04Z,"
				   "123e4567-e89b-12d3-a456-426614174000,a@b.cd,\xc3\xa9x,\n"
				   "9,NA,no,2023-01-02,2024-01-02 03:04:05,"
				   "123e4567-e89b-12d3-a456-426614174001,b@b.cd,x,\n"
				   "10,-2,NO,2024-01-02,,,,1,\n";
	static const struct {
		const char *type, *min, *max, *mean;
		unsigned nulls, unique;
	} wanted[] = {
		{ "int", "9", "10", "9.66666666666667", 0, 2 },
		{ "float", "-2", "1.5", "-0.25", 1, 2 },
		{ "bool", "NO", "true", NULL, 0, 3 },
		{ "date", "2023-01-02", "2024-01-02", NULL, 0, 2 },
		{ "datetime", "2024-01-02T03:04Z", "2024-01-02 03:04:05", NULL, 1, 2 },
		{ "uuid", NULL, NULL, NULL, 1, 2 },
		{ "email", "a@b.cd", "b@b.cd", NULL, 1, 2 },
		{ "string", "1", "\xc3\xa9x", NULL, 0, 3 },
		{ "string", NULL, NULL, NULL, 3, 0 },
	};
	struct checked got;

	(void)state;
	check(&got, text, NULL,
	    (struct validate_csv_data){ .has_header = true, .statistics = true, .max_errors = 1 });
	assert_int_equal(got.report.columns.count, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct csv_column *column = &got.report.columns.items[i];

		assert_string_equal(column->type, wanted[i].type);
		assert_int_equal(column->null_count, wanted[i].nulls);
		assert_int_equal(column->unique_count, wanted[i].unique);
		if (wanted[i].min != NULL) {
			assert_string_equal(column->min, wanted[i].min);
			assert_string_equal(column->max, wanted[i].max);
		}
		assert_int_equal(column->mean != NULL, wanted[i].mean != NULL);
		if (column->mean != NULL)
			assert_string_equal(column->mean, wanted[i].mean);
	}
	assert_int_equal(got.report.columns.items[7].max_length, 2);
	clear(&got);
}

static void
names_columns_without_header(void **state)
{
	struct checked got;

	(void)state;
	check(&got, "1,2\nx,3\n", "{\"column_1\": \"int\"}",
	    (struct validate_csv_data){ .has_header = false, .statistics = true, .max_errors = 9 });
	assert_string_equal(got.found, "2:column_1 type");
	assert_int_equal(got.report.row_count, 2);
	clear(&got);
}

static void
lists_the_first_of_many(void **state)
{
	char text[4096] = "a\n";
	struct checked got;

	(void)state;
	for (size_t i = 0; i < 500; i++)
		strcat(text, "x\n");
	check(&got, text, "{\"a\": \"int\"}",
	    (struct validate_csv_data){ .has_header = true, .statistics = true, .max_errors = 3 });
	assert_int_equal(got.report.errors.count, 3);
	assert_int_equal(got.report.error_count, 500);
	assert_int_equal(got.report.errors.items[2].line, 4);
	assert_non_null(strstr(got.report.message, "500 errors in 500 rows"));
	clear(&got);
}

/* A text of so many equal pieces. */
static void
refuse_flood(const char *head, const char *piece, size_t count, const char *wanted)
{
	size_t size = strlen(piece), at = strlen(head);
	auto_free char *text = malloc(at + size * count + 1);
	struct checked got;

	memcpy(text, head, at);
	for (size_t i = 0; i < count; i++, at += size)
		memcpy(text + at, piece, size);
	text[at] = '\0';
	check(&got, text, NULL,
	    (struct validate_csv_data){ .has_header = true, .statistics = true, .max_errors = 1 });
	assert_int_equal(got.status, -1);
	assert_int_equal(got.error.code, ERR_limit_exceeded);
	if (strstr(got.error.text, wanted) == NULL)
		fail_msg("%s", got.error.text);
	clear(&got);
}

static void
bounds_what_it_reads(void **state)
{
	(void)state;
	refuse_flood("", ",", 8192, "line 1 has more than 8192 cells");
	refuse_flood("a,\"", "aaaaaaa\n", 1 << 18, "is its quote closed?");
}

/* Exponential for a backtracking matcher: each cell is bounded and says so. */
static void
bounds_patterns(void **state)
{
	struct checked got;

	(void)state;
	check(&got, "a\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n",
	    "{\"a\": {\"pattern\": \"(a|aa)+[^a!]\"}}",
	    (struct validate_csv_data){ .has_header = true, .statistics = true, .max_errors = 1 });
	assert_string_equal(got.found, "1:a pattern");
	assert_non_null(strstr(got.report.errors.items[0].message, "too many steps"));
	clear(&got);
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(cases) + COUNT(refusals) + 13];
	static char names[COUNT(cases) + COUNT(refusals)][32];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(cases); i++, n++) {
		snprintf(names[n], sizeof names[n], "finds %zu", i);
		tests[n] = (struct CMUnitTest){ names[n], finds, NULL, NULL,
			(void *)(uintptr_t)&cases[i] };
	}
	for (size_t i = 0; i < COUNT(refusals); i++, n++) {
		snprintf(names[n], sizeof names[n], "refuses %zu", i);
		tests[n] = (struct CMUnitTest){ names[n], refuses, NULL, NULL,
			(void *)(uintptr_t)&refusals[i] };
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(detects_delimiters);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(reads_declared_delimiters);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_near_columns);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(infers_codes_as_text);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(reads_wide_tables);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(detects_encodings);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(refuses_other_bytes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(infers_columns);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_columns_without_header);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(lists_the_first_of_many);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(bounds_what_it_reads);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(bounds_patterns);
	return _cmocka_run_group_tests("csv", tests, n, NULL, NULL);
}
