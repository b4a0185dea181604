/* SPDX-License-Identifier: Apache-2.0 */
/* test_redact.c - each form of a secret, at each split of the output; all output against a plain
 * search. */
#include "executor/redact/form.h"
#include "executor/redact/known.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char secret[] = "s&cr<t \"\xc3\xa9/'\\1";

static struct redact *
redact_of(const char *text)
{
	struct blob one = { (void *)(uintptr_t)text, strlen(text) };
	struct err e;
	struct redact *r = redact_new(&one, 1, &e);

	assert_non_null(r);
	return r;
}

/* Feeds the text in parts of that size. */
static struct blob
clean(const struct redact *r, const char *text, size_t size, size_t part)
{
	struct redact_stream s = { .of = r };
	struct blob to = { 0 };

	for (size_t at = 0; at < size; at += part) {
		size_t n = size - at < part ? size - at : part;

		assert_int_equal(redact_feed(&s, text + at, n, &to), 0);
	}
	assert_int_equal(redact_end(&s, &to), 0);
	return to;
}

static void
check(const struct redact *r, const char *text, size_t size, const char *want)
{
	for (size_t part = 1; part <= size; part++) {
		struct blob got = clean(r, text, size, part);

		assert_string_equal(got.data, want);
		blob_clear(&got);
	}
}

static void
test_forms(void **state)
{
	static const char *const forms[] = {
		secret,
		"1\\'/\xa9\xc3\" t<rc&s",
		"cyZjcjx0ICLDqS8nXD",
		"MmY3I8dCAiw6kvJ1wx",
		"zJmNyPHQgIsOpLydcM",
		"732663723c742022c3a92f275c31",
		"732663723C742022C3A92F275C31",
		"s%26cr%3Ct%20%22%C3%A9%2F%27%5C1",
		"s%26cr%3ct%20%22%c3%a9%2f%27%5c1",
		"s%26cr%3Ct+%22%C3%A9%2F%27%5C1",
		"s&cr<t \\\"\xc3\xa9/'\\\\1",
		"s&cr<t \\\"\\u00e9/'\\\\1",
		"s&amp;cr&lt;t &quot;\xc3\xa9/&#x27;\\1",
		"s&amp;cr&lt;t &#34;\xc3\xa9/&#39;\\1",
		"s&cr<t \"\xc3\xa9/'\\''\\1",
		"s&cr<t \"\xc3\xa9/\\'\\\\1",
	};
	struct redact *r = redact_of(secret);

	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++) {
		char text[256];
		int n = snprintf(text, sizeof text, "a%sb", forms[i]);

		check(r, text, (size_t)n, "a" REDACT_MARK "b");
	}
	redact_free(r);
}

static void
test_utf16(void **state)
{
	static const char little[] = "k\0e\0y\0-\0"
				     "1\0"
				     "2\0"
				     "3\0"
				     "4\0",
			  big[] = "\0k\0e\0y\0-\0"
				  "1\0"
				  "2\0"
				  "3\0"
				  "4";
	struct redact *r = redact_of("key-1234");
	struct blob got = clean(r, little, sizeof little - 1, 3);

	(void)state;
	assert_memory_equal(got.data, REDACT_MARK, got.size - 1);
	blob_clear(&got);
	got = clean(r, big, sizeof big - 1, 3);
	assert_memory_equal((char *)got.data + 1, REDACT_MARK, got.size - 1);
	blob_clear(&got);
	redact_free(r);
}

static void
test_near_misses(void **state)
{
	struct redact *r = redact_of("abcabcabd");

	(void)state;
	check(r, "abcabcab", 8, "abcabcab");
	check(r, "abcabcabcabd!", 13, "abc" REDACT_MARK "!");
	check(r, "abcabcabdabcabcabd", 18, REDACT_MARK);
	check(r, "abcabcabd abcabcabd", 19, REDACT_MARK " " REDACT_MARK);
	redact_free(r);
}

static void
test_control_sequences(void **state)
{
	static const char all[] = "x\033[1ma\033[0mb\033[31;4mcdefgh!", none[] = "ab\033[1mcx";
	struct redact *r = redact_of("abcdefgh");

	(void)state;
	check(r, all, sizeof all - 1, "x\033[1m" REDACT_MARK "!");
	check(r, none, sizeof none - 1, none);
	redact_free(r);
}

/* A key file: each of its lines, but not its frame. */
static void
test_lines(void **state)
{
	static const char key[] =
	    "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n";
	struct redact *r = redact_of(key);

	(void)state;
	check(r, "> AQEFAASCBKcwggSjAgEAAoIB\r\n", 28, "> " REDACT_MARK "\r\n");
	check(r, "-----BEGIN KEY-----\n", 20, "-----BEGIN KEY-----\n");
	redact_free(r);
}

static void
test_bounds(void **state)
{
	struct blob items[2] = { blob_text("1234567"), { calloc(1, REDACT_MAX_BYTES), 0 } };
	struct err e;

	(void)state;
	assert_null(redact_new(items, 1, &e));
	assert_int_equal(e.code, ERR_invalid_argument);
	items[1].size = REDACT_MAX_BYTES;
	assert_null(redact_new(items, 2, &e));
	assert_int_equal(e.code, ERR_limit_exceeded);
	blob_clear(&items[0]);
	blob_clear(&items[1]);
}

/* ---- against a plain search ---- */

enum { SECRETS = 3, LENGTH = 300 };

static void
mark_plain(const struct forms *forms, const char *text, bool marked[LENGTH])
{
	for (size_t f = 0; f < forms->count; f++)
		for (size_t at = 0; at + forms->items[f].text.size <= LENGTH; at++)
			if (memcmp(text + at, forms->items[f].text.data,
				forms->items[f].text.size) == 0)
				memset(marked + at, true, forms->items[f].text.size);
}

static void
expect(const struct forms *forms, const char *text, char *want)
{
	bool marked[LENGTH] = { false };

	mark_plain(forms, text, marked);
	for (size_t i = 0; i < LENGTH; i++)
		if (!marked[i])
			*want++ = text[i];
		else if (i == 0 || !marked[i - 1])
			want = stpcpy(want, REDACT_MARK);
	*want = '\0';
}

static void
test_random(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		char texts[SECRETS][16], text[LENGTH + 1], want[LENGTH * 13 + 1];
		struct blob items[SECRETS];
		struct forms forms = { 0 };
		struct err e;

		for (size_t i = 0; i < SECRETS; i++) {
			size_t size = FORM_MIN + (size_t)rand_r(&seed) % 4;

			for (size_t at = 0; at < size; at++)
				texts[i][at] = (char)('a' + rand_r(&seed) % 2);
			items[i] = (struct blob){ texts[i], size };
			assert_int_equal(form_add(&forms, texts[i], size, &e), 0);
		}
		for (size_t i = 0; i < LENGTH; i++)
			text[i] = (char)(rand_r(&seed) % 40 == 0 ? ' ' : 'a' + rand_r(&seed) % 2);
		expect(&forms, text, want);

		struct redact *r = redact_new(items, SECRETS, &e);
		struct blob got = clean(r, text, LENGTH, 1 + (size_t)rand_r(&seed) % 40);

		assert_string_equal(got.data, want);
		blob_clear(&got);
		redact_free(r);
		form_clear(&forms);
	}
}

/* As od, xxd, hexdump, base32, base64 -w, Python and Node print "key=", the secret and a newline.
 */
static const struct {
	const char *text, *want;
} dumps[] = {
	{ "00000000: 6b65 793d 546b 3361 6263 6465 6667 6831  key=Tk3abcdefgh1\n00000010: "
	  "3233 3435 3637 3878 797a 0a              2345678xyz.\n",
	    "00000000: 6b65 793d " REDACT_MARK "\n00000010: " REDACT_MARK "\n" },
	{ "00000000: 6B65 793D 546B 3361 6263 6465 6667 6831  key=Tk3abcdefgh1\n00000010: "
	  "3233 3435 3637 3878 797A 0A              2345678xyz.\n",
	    "00000000: 6B65 793D " REDACT_MARK "\n00000010: " REDACT_MARK "\n" },
	{ "00000000  6b 65 79 3d 54 6b 33 61  62 63 64 65 66 67 68 31  "
	  "|key=Tk3abcdefgh1|\n00000010  32 33 34 35 36 37 38 78  79 7a 0a                 "
	  "|2345678xyz.|\n0000001b\n",
	    "00000000  6b 65 79 3d " REDACT_MARK "\n00000010  " REDACT_MARK "\n0000001b\n" },
	{ "0000000 656b 3d79 6b54 6133 6362 6564 6766 3168\n0000010 3332 3534 3736 7838 "
	  "7a79 000a          \n000001b\n",
	    "0000000 656b 3d79 " REDACT_MARK "\n0000010 " REDACT_MARK "\n000001b\n" },
	{ "0000000 062553 036571 065524 060463 061542 062544 063546 030550\n0000020 031462 "
	  "032464 033466 074070 075171 000012\n0000033\n",
	    "0000000 062553 036571 " REDACT_MARK "\n0000020 " REDACT_MARK "\n0000033\n" },
	{ "0000000   k   e   y   =   T   k   3   a   b   c   d   e   f   g   h   "
	  "1\n0000020   2   3   4   5   6   7   8   x   y   z  \\n\n0000033\n",
	    "0000000   k   e   y   =   " REDACT_MARK "\n0000020   " REDACT_MARK
	    "  \\n\n0000033\n" },
	{ "0000000 153 145 171 075 124 153 063 141 142 143 144 145 146 147 150 "
	  "061\n0000020 062 063 064 065 066 067 070 170 171 172 012\n0000033\n",
	    "0000000 153 145 171 075 " REDACT_MARK "\n0000020 " REDACT_MARK "\n0000033\n" },
	{ "000000 6b 65 79 3d 54 6b 33 61 62 63 64 65 66 67 68 31  "
	  ">key=Tk3abcdefgh1<\n000010 32 33 34 35 36 37 38 78 79 7a 0a                 "
	  ">2345678xyz.<\n00001b\n",
	    "000000 6b 65 79 3d " REDACT_MARK "\n000010 " REDACT_MARK "\n00001b\n" },
	{ "6b65793d546b336162636465666768313233343536373878797a0a\n",
	    "6b65793d" REDACT_MARK "0a\n" },
	{ "NNSXSPKUNMZWCYTDMRSWMZ3IGEZDGNBVGY3TQ6DZPIFA====\n", "NNSXSPK" REDACT_MARK "IFA====\n" },
	{ "NNSXSPKUN\nMZWCYTDMR\nSWMZ3IGEZ\nDGNBVGY3T\nQ6DZPIFA=\n===\n",
	    "NNSXSPKUN\n" REDACT_MARK "IFA=\n===\n" },
	{ "a2V5PVR\nrM2FiY2\nRlZmdoM\nTIzNDU2\nNzh4eXo\nK\n", "a2V5PVR\n" REDACT_MARK "o\nK\n" },
	{ "[107, 101, 121, 61, 84, 107, 51, 97, 98, 99, 100, 101, 102, 103, 104, 49, 50, "
	  "51, 52, 53, 54, 55, 56, 120, 121, 122, 10]\n",
	    "[107, 101, 121, 61, " REDACT_MARK ", 10]\n" },
	{ "6b:65:79:3d:54:6b:33:61:62:63:64:65:66:67:68:31:32:33:34:35:36:37:38:78:79:7a:"
	  "0a end\n",
	    "6b:65:79:3d:" REDACT_MARK ":0a end\n" },
	{ "<Buffer 6b 65 79 3d 54 6b 33 61 62 63 64 65 66 67 68 31 32 33 34 35 36 37 38 78 "
	  "79 7a 0a>\n",
	    "<Buffer 6b 65 79 3d " REDACT_MARK "\n" },
	{ "KEY=TK3ABCDEFGH12345678XYZ\n", "KEY=" REDACT_MARK "\n" },
	{ "a key=tk3abcdefgh12345678xyz\n", "a key=" REDACT_MARK "\n" },
	{ "\"{\\\"k\\\": \\\"Tk3abcdefgh12345678xyz\\\"}\"\n",
	    "\"{\\\"k\\\": \\\"" REDACT_MARK "\\\"}\"\n" },
};

static void
test_dumps(void **state)
{
	struct redact *r = redact_of("Tk3abcdefgh12345678xyz");

	(void)state;
	for (size_t i = 0; i < COUNT(dumps); i++)
		check(r, dumps[i].text, strlen(dumps[i].text), dumps[i].want);
	redact_free(r);
}

static void
test_known(void **state)
{
	struct vault_values values = { 0 };
	struct secret_value *value = list_add(&values.values, sizeof *value);
	struct known known = { 0 };
	struct err e;
	char *text = strdup("a first-one b second-one");

	(void)state;
	*value = (struct secret_value){ strdup("A"), blob_text("first-one") };
	assert_int_equal(known_add(&known, &values, &e), 0);
	assert_int_equal(known_add(&known, &values, &e), 0);
	assert_int_equal(known.count, 1);
	blob_clear(&value->value);
	value->value = blob_text("second-one");
	assert_int_equal(known_add(&known, &values, &e), 0);
	redact_text(known.redact, &text);
	assert_string_equal(text, "a " REDACT_MARK " b " REDACT_MARK);
	assert_true(redact_finds(known.redact, "x/first-one"));
	assert_false(redact_finds(known.redact, "x/first"));
	blob_clear(&value->value);
	value->value = blob_text("short");
	assert_int_equal(known_add(&known, &values, &e), -1);
	assert_int_equal(known.count, 2);
	free(text);
	known_wipe(&values);
	known_clear(&known);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_utf16),
		cmocka_unit_test(test_near_misses),
		cmocka_unit_test(test_control_sequences),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_dumps),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
