/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csv_options.c - what a caller says of a table: its characters, numerals, encoding, lines to
 * skip; and what a check says if the caller should have.
 */
#include "validator/csv/charset.h"
#include "validator/csv/csv.h"

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
	char found[512]; /* "2:age type at 3, 3:id unique at 4" */
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

		used += (size_t)snprintf(c->found + used, sizeof c->found - used,
		    "%s%" PRIu64 ":%s %s at %" PRIu64, n > 0 ? ", " : "", f->row,
		    f->column != NULL ? f->column : "", f->rule, f->line);
	}
	blob_clear(&ask.csv_content);
	blob_clear(&ask.type_constraints);
}

static void
clear(struct checked *c)
{
	message_clear(MSG_csv_report, &c->report);
}

#define ASKED(...) \
	{ \
		.has_header = true, .statistics = true, .max_errors = 9, __VA_ARGS__ \
	}
/* An argument, what is found with it, and a part of the summary or of the refusal. */
static const struct option_case {
	const char *text, *rules, *found, *said;
	struct validate_csv_data ask;
} option_cases[] = {
#define TEXT(s) ((char *)(uintptr_t)(s))
	{ "a,b\n'1,2',\"\n", NULL, "", "1 rows in 2 columns", ASKED(.quote = TEXT("'")) },
	{ "a,b\n\"1,2\n", NULL, "", "1 rows in 2 columns", ASKED(.quote = TEXT("none")) },
	{ "a,b\n1,2\n", NULL, NULL, "quote: must be", ASKED(.quote = TEXT("xy")) },
	{ "a,b\n1,2\n", NULL, NULL, "escape: must be", ASKED(.escape = TEXT("x")) },
	{ "a,b\n1,2\n", NULL, NULL, "two of them are '#'",
	    ASKED(.escape = TEXT("#"), .comment = TEXT("#")) },
	{ "a,b\n\"x\\\"y\",1\n", NULL, "", "no error", ASKED(.escape = TEXT("\\")) },
	{ "a,b\nx\\,y,1\\\n2\n", NULL, "", "1 rows", ASKED(.escape = TEXT("\\")) },
	{ "a,b\n\"x\\\"y\",1\n", NULL, "1:a quote at 2", "1 errors", ASKED(.escape = TEXT("\"")) },
	{ "# made today, by me\na,b\n#1\n1,2#\n", NULL, "", "1 rows in 2 columns",
	    ASKED(.comment = TEXT("#")) },
	{ "Title\r\n\r\na;b\r\n1;x\r\n", "{\"b\": \"int\"}", "1:b type at 4", "1 errors in 1 rows",
	    ASKED(.skip_lines = 2) },
	{ "sep=;\nTitle\na;b\n1;2\n", NULL, "", "declares the delimiter", ASKED(.skip_lines = 2) },
	{ "a\n1\n", NULL, "0: header at 0", "1 errors in 0 rows", ASKED(.skip_lines = 9) },
	{ "a;b\n1,5;1.234.567,5\n", "{\"a\": \"float\", \"b\": \"float\"}", "", "no error",
	    ASKED(.decimal = TEXT(","), .thousands = TEXT(".")) },
	{ "a;b\n1.5;1.23\n", "{\"a\": \"float\", \"b\": \"float\"}", "1:a type at 2, 1:b type at 2",
	    "2 errors", ASKED(.decimal = TEXT(","), .thousands = TEXT(".")) },
	{ "a\n1 000\n", "{\"a\": \"int\"}", "", "no error", ASKED(.thousands = TEXT(" ")) },
	{ "a,b,c\n1,x,1\n1,y,1\n2,x,1\n1,y,2\n1,,3\n1,,4\n1\n", "{\"a\": {\"unique\": [\"b\"]}}",
	    "4:a unique at 5, 7: columns at 8", "2 errors in 7 rows", ASKED() },
	{ "a,b\n1:1,2\n1,1:2\n11,2\n1,12\n", "{\"b\": {\"unique\": [\"a\", \"b\"]}}", "",
	    "no error", ASKED() },
	{ "a,b,c\n1,2,3\n1,2,4\n1,2,3\n", "{\"a\": {\"unique\": [\"b\", \"c\"]}}",
	    "3:a unique at 4", "", ASKED() },
	{ "a,b\n1,2\n", "{\"a\": {\"unique\": [\"z\"]}}", NULL,
	    "type_constraints.a.unique: there is no column \"z\"", ASKED() },
	{ "a,b\n1,2\n", "{\"a\": {\"unique\": [1]}}", NULL,
	    "type_constraints.a.unique: must be a boolean, or names of other columns", ASKED() },
	/* Values may come after the cells that name them. */
	{ "id,parent\n2,1\n1,\n3,9\n4,3\n", "{\"parent\": {\"references\": \"id\"}}",
	    "3:parent references at 4", "1 errors in 4 rows", ASKED() },
	{ "n,c\n1,DE\n2,XX\n3,de\n4,\n",
	    "{\"c\": {\"references\": {\"csv\": "
	    "\"name;code\\nGermany;DE\\nIndia;IN\", \"column\": \"code\"}}}",
	    "2:c references at 3, 3:c references at 4", "2 errors", ASKED() },
	{ "sep=;\nid;p\n1;\"1\"\n2;\"a\"\"b\"\n\"a\"\"b\";1\n", "{\"p\": {\"references\": \"id\"}}",
	    "", "no error", ASKED() },
	{ "a,b\n1,2\n", "{\"a\": {\"references\": \"z\"}}", NULL,
	    "type_constraints.a.references: there is no column \"z\"", ASKED() },
	{ "a,b\n1,2\n", "{\"a\": {\"references\": {\"csv\": \"\", \"column\": \"z\"}}}", NULL,
	    "type_constraints.a.references: there is no column \"z\"", ASKED() },
	{ "a,b\n1,2\n", "{\"a\": {\"references\": {\"path\": \"x\"}}}", NULL,
	    "type_constraints.a.references: must be the name of a column, or {csv, column}",
	    ASKED() },
	{ "1,2\n", "{\"column_1\": {\"references\": \"column_2\"}}", NULL,
	    "names of columns need a header", { .statistics = true, .max_errors = 9 } },
	{ "a\n1\n", NULL, NULL, "decimal: must be", ASKED(.decimal = TEXT(";")) },
	{ "a\n1\n", NULL, NULL, "thousands: must be", ASKED(.thousands = TEXT(";")) },
	{ "a\n1\n", NULL, NULL, "thousands: is the decimal point", ASKED(.thousands = TEXT(".")) },
	{ "a\n1\n", NULL, NULL, "encoding: is for csv_base64", ASKED(.encoding = TEXT("utf-8")) },
	/* What is no table. */
	{ "Sales 2024\n\na,b,c\n1,2,3\n4,5,6\n", NULL, "1: columns at 3",
	    "line 1 seems to be a title, and line 3 the header: give skip_lines=2", ASKED() },
	{ "Sales 2024,,\na,b,c\n1,2,3\n", NULL, "", "skip_lines=1", ASKED() },
	{ "a,b\n1,2\n3,4\nTotal:,6\n", NULL, "",
	    "line 4, which begins with 'Total', seems to be a footer", ASKED() },
	{ "a,b\n1,2\n3,4\n(2 rows)\n", NULL, "3: columns at 4", "'(2 rows)'", ASKED() },
};

static void
takes_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(option_cases); i++) {
		const struct option_case *c = &option_cases[i];
		struct checked got;
		check(&got, c->text, c->rules, c->ask);
		assert_int_equal(got.status, c->found != NULL ? 0 : -1);
		const char *said = got.status < 0 ? got.error.text : got.report.message;
		if ((c->found != NULL && strcmp(got.found, c->found) != 0) ||
		    strstr(said, c->said) == NULL)
			fail_msg("%s: %s: %s", c->text, got.found, said);
		clear(&got);
	}
}

static void
lists_a_width_once(void **state)
{
	char text[8192] = "a,b\n1\n";
	struct checked got;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		strcat(text, "1,2,\n");
	strcat(text, "1,2,3\n");
	check(&got, text, NULL, (struct validate_csv_data)ASKED());
	assert_string_equal(got.found, "1: columns at 2, 2: columns at 3, 1002: columns at 1003");
	assert_int_equal(got.report.error_count, 1002);
	assert_string_equal(got.report.errors.items[1].message,
	    "the row has 3 cells, expected 2, because a delimiter ends it; so it is in 999 more "
	    "rows, "
	    "lines 4, 5, 6, 7, 8, 9, 10, 11, ...");
	assert_string_equal(got.report.errors.items[2].message, "the row has 3 cells, expected 2");
	clear(&got);
}

static void
hints_at_options(void **state)
{
	static const struct {
		const char *text, *rules, *said;
	} tried[] = {
		{ "a\n\"1,5\"\n", "{\"a\": \"float\"}", "; if a comma is the decimal point" },
		{ "a\n\"1,500\"\n", "{\"a\": \"int\"}", "; if a comma groups digits" },
		{ "a\n\"1.500,5\"\n", "{\"a\": \"float\"}", "; is it of decimal \",\" and" },
		{ "a,b\n\"x\\\"y\",1\n", NULL, "; if a backslash protects quotes, give escape" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check(&got, tried[i].text, tried[i].rules, (struct validate_csv_data)ASKED());
		assert_int_equal(got.report.error_count, 1);
		if (strstr(got.report.errors.items[0].message, tried[i].said) == NULL)
			fail_msg("%s", got.report.errors.items[0].message);
		clear(&got);
	}
}

static void
leaves_statistics_out(void **state)
{
	struct checked got;

	(void)state;
	check(&got, "a,b\n1,x\n2,y\n", "{\"b\": \"int\"}",
	    (struct validate_csv_data){ .has_header = true, .max_errors = 9 });
	assert_string_equal(got.found, "1:b type at 2, 2:b type at 3");
	assert_int_equal(got.report.columns.count, 0);
	clear(&got);
}

static void
obeys_the_encoding(void **state)
{
	static const struct {
		const char *wanted, *bytes, *got, *said;
	} tried[] = {
		{ "UTF-8", "a\n\xc3\xa9\n", "utf-8", NULL },
		{ "utf-8", "a\n1\n\xe9\n", NULL, "csv_base64: line 3 is no UTF-8 text" },
		{ "latin-1", "a\n\xc3\xa9\n", "windows-1252", NULL },
		{ "utf-16", "\xfe\xff\x20\xac", "utf-16-be", NULL },
		{ "utf-16le", "ab", "utf-16-le", NULL },
		{ "koi8-r", "a\n\xd7\n", "koi8-r", NULL },
		{ "SJIS", "a\n\x83\x5c\n", "shift_jis", NULL },
		{ "shift_jis", "a\n\x83", NULL, "csv_base64: byte 2 is no shift_jis" },
		{ "ebcdic", "a\n", NULL, "encoding: \"ebcdic\" is not supported; known: utf-8" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct validate_csv_data ask = ASKED(.encoding = TEXT(tried[i].wanted));
		struct csv_report report = { 0 };
		struct err e;

		ask.csv_base64 = blob_text(tried[i].bytes);
		int status = csv_check(&ask, &report, &e);
		assert_int_equal(status, tried[i].got != NULL ? 0 : -1);
		if (status == 0)
			assert_string_equal(report.dialect->encoding, tried[i].got);
		else if (strstr(e.text, tried[i].said) == NULL)
			fail_msg("%s", e.text);
		message_clear(MSG_csv_report, &report);
		blob_clear(&ask.csv_base64);
	}
}

/* The last column is the first header in UTF-8. */
static const struct guess {
	const char *encoding, *bytes, *header;
} guesses[] = {
	{ "shift_jis",
	    "\226\274\221O,\223s\216s\n"
	    "\221\276\230Y,\223\214\213\236\n"
	    "\211\324\216q,\221\345\215\343\n",
	    "名前" },
	{ "gb18030",
	    "\320\325\303\373,\263\307\312\320\n"
	    "\325\305\310\375,\261\261\276\251\n"
	    "\300\356\313\304,\311\317\272\243\n",
	    "姓名" },
	{ "euc-kr",
	    "\300\314\270\247,\265\265\275\303\n"
	    "\303\266\274\366,\274\255\277\357\n"
	    "\277\265\310\361,\272\316\273\352\n",
	    "이름" },
	{ "big5",
	    "\251m\246W,\253\260\245\253\n"
	    "\244\375\244p\251\372,\245x\245_\n"
	    "\263\257\254\374\304R,\260\252\266\257\n",
	    "姓名" },
	{ "koi8-r",
	    "\311\315\321,\307\317\322\317\304\n"
	    "\351\327\301\316,\355\317\323\313\327\301\n"
	    "\341\316\316\301,\353\301\332\301\316\330\n",
	    "имя" },
	{ "windows-1251",
	    "\350\354\377,\343\356\360\356\344\n"
	    "\310\342\340\355,\314\356\361\352\342\340\n"
	    "\300\355\355\340,\312\340\347\340\355\374\n",
	    "имя" },
	{ "ibm866",
	    "\250\254\357,\243\256\340\256\244\n"
	    "\210\242\240\255,\214\256\341\252\242\240\n"
	    "\200\255\255\240,\212\240\247\240\255\354\n",
	    "имя" },
	{ "windows-1250",
	    "jm\351no,m\354sto\n"
	    "Ji\370\355,Plze\362\n"
	    "\212\341rka,B\370eclav\n"
	    "\243ukasz,\243\363d\237\n",
	    "jméno" },
	{ "iso-8859-2",
	    "jm\351no,m\354sto\n"
	    "Ji\370\355,Plze\362\n"
	    "Ma\370enka,B\370eclav\n"
	    "\243ukasz,\243\363d\274\n",
	    "jméno" },
	{ "iso-8859-7",
	    "\374\355\357\354\341,\360\374\353\347\n"
	    "\303\351\376\361\343\357\362,\301\350\336\355\341\n"
	    "\314\341\361\337\341,\320\334\364\361\341\n",
	    "όνομα" },
	{ "windows-1255",
	    "\371\355,\362\351\370\n"
	    "\343\345\343,\351\370\345\371\354\351\355\n"
	    "\370\347\354,\347\351\364\344\n",
	    "שם" },
	{ "windows-1252",
	    "name,city\n"
	    "Jos\351,M\341laga\n"
	    "Zo\353,K\366ln\n"
	    "Fran\347ois,Besan\347on\n",
	    "name" },
};

/* By its bytes alone, which the summary says. */
static void
guesses_the_encoding(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(guesses); i++) {
		struct validate_csv_data ask = ASKED(.csv_base64 = blob_text(guesses[i].bytes));
		struct csv_report report = { 0 };
		struct err e;

		assert_int_equal(csv_check(&ask, &report, &e), 0);
		assert_string_equal(report.dialect->encoding, guesses[i].encoding);
		assert_string_equal(report.columns.items[0].name, guesses[i].header);
		assert_non_null(strstr(report.message, "which is a guess"));
		message_clear(MSG_csv_report, &report);
		blob_clear(&ask.csv_base64);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_options),
		cmocka_unit_test(lists_a_width_once),
		cmocka_unit_test(hints_at_options),
		cmocka_unit_test(leaves_statistics_out),
		cmocka_unit_test(obeys_the_encoding),
		cmocka_unit_test(guesses_the_encoding),
	};

	charset_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
