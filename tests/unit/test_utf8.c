/* SPDX-License-Identifier: Apache-2.0 */
/* test_utf8.c - what is text, and how what is not becomes it. */
#include "common/auto.h"
#include "common/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define BYTES(s) s, sizeof(s) - 1
#define FFFD     "\xef\xbf\xbd"

/* clang-format off */
static const struct {
	const char *bytes;
	size_t size;
	bool valid;
	const char *mended; /* NULL: the same bytes */
} cases[] = {
	{ BYTES(""), true, NULL },
	{ BYTES("plain text of more than eight bytes"), true, NULL },
	{ BYTES("\x7f\xc2\x80\xdf\xbf"), true, NULL },
	{ BYTES("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"), true, NULL },
	{ BYTES("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), true, NULL },
	{ BYTES("eight by\xc3\xa9 and more"), true, NULL },
	{ BYTES("a\0b"), true, "a" FFFD "b" }, /* UTF-8, but not what TEXT and PAGE may have */
	{ BYTES("\x80"), false, FFFD },
	{ BYTES("\xc0\x80"), false, FFFD FFFD }, /* overlong */
	{ BYTES("\xc1\xbf"), false, FFFD FFFD },
	{ BYTES("\xe0\x9f\xbf"), false, FFFD FFFD FFFD },
	{ BYTES("\xf0\x8f\xbf\xbf"), false, FFFD FFFD FFFD FFFD },
	{ BYTES("\xed\xa0\x80"), false, FFFD FFFD FFFD }, /* surrogates */
	{ BYTES("\xed\xbf\xbf"), false, FFFD FFFD FFFD },
	{ BYTES("\xf4\x90\x80\x80"), false, FFFD FFFD FFFD FFFD }, /* over U+10FFFF */
	{ BYTES("\xf5\x80\x80\x80"), false, FFFD FFFD FFFD FFFD },
	{ BYTES("\xfe\xff"), false, FFFD FFFD },
	{ BYTES("a\xc3"), false, "a" FFFD }, /* cut off */
	{ BYTES("a\xe2\x82"), false, "a" FFFD FFFD },
	{ BYTES("a\xf0\x9f\x90"), false, "a" FFFD FFFD FFFD },
	{ BYTES("\xc3" "a"), false, FFFD "a" }, /* a character that another interrupts */
	{ BYTES("\xe2\x82" "a"), false, FFFD FFFD "a" },
	{ BYTES("\xf0\x9f\x90" "a"), false, FFFD FFFD FFFD "a" },
	{ BYTES("seven b\xff"), false, "seven b" FFFD },
	{ BYTES("eight by\xff"), false, "eight by" FFFD },
	{ BYTES("\xff" "eight bytes behind"), false, FFFD "eight bytes behind" },
};
/* clang-format on */

static void
tells_text_from_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		auto_free char *exact = malloc(cases[i].size + (cases[i].size == 0));

		memcpy(exact, cases[i].bytes, cases[i].size);
		if (utf8_valid(exact, cases[i].size) != cases[i].valid)
			fail_msg("case %zu", i);
	}
}

static void
mends_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct blob mended = utf8_mend(cases[i].bytes, cases[i].size);
		const char *wanted = cases[i].mended != NULL ? cases[i].mended : cases[i].bytes;

		assert_non_null(mended.data);
		assert_string_equal(mended.data, wanted);
		assert_int_equal(mended.size, strlen(wanted));
		blob_clear(&mended);
	}
}

/* Text is looked at eight bytes at once. */
static void
mends_at_every_place(void **state)
{
	char text[24];

	(void)state;
	for (size_t at = 0; at < sizeof text; at++)
		for (int bad = 0; bad < 256; bad += 0xff) {
			memset(text, 'a', sizeof text);
			text[at] = (char)bad;

			struct blob mended = utf8_mend(text, sizeof text);

			assert_int_equal(mended.size, sizeof text + 2);
			assert_int_equal(strspn(mended.data, "a"), at);
			assert_memory_equal((char *)mended.data + at, FFFD, 3);
			assert_int_equal(
			    strspn((char *)mended.data + at + 3, "a"), sizeof text - at - 1);
			blob_clear(&mended);
		}
}

/* Microseconds of the processor for as much as a program may print, of one kind of bytes. */
static int64_t
cost_of(int byte, bool mend)
{
	static char text[4 << 20];
	struct timespec from, to;

	memset(text, byte, sizeof text);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	if (mend) {
		struct blob mended = utf8_mend(text, sizeof text);

		assert_non_null(mended.data);
		blob_clear(&mended);
	} else
		assert_true(utf8_valid(text, sizeof text));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000;
}

/* Nobody else is served while it is mended: text costs little more than to look at it. */
static void
mends_text_at_once(void **state)
{
	int64_t look = INT64_MAX, mend = INT64_MAX, cost;

	(void)state;
	for (int i = 0; i < 8; i++) {
		look = (cost = cost_of('a', false)) < look ? cost : look;
		mend = (cost = cost_of('a', true)) < mend ? cost : mend;
	}
	assert_in_range(mend, 0, look * 12);
}

/* Every sequence of three bytes: what is mended is text, and text stays as it is. */
static void
mends_everything(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 1 << 24; n += 7) {
		unsigned char bytes[3] = { n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff };
		struct blob mended = utf8_mend(bytes, sizeof bytes);
		bool kept =
		    mended.size == sizeof bytes && memcmp(mended.data, bytes, sizeof bytes) == 0;

		assert_true(utf8_valid(mended.data, mended.size));
		assert_int_equal(strlen(mended.data), mended.size);
		assert_int_equal(kept,
		    utf8_valid(bytes, sizeof bytes) && memchr(bytes, 0, sizeof bytes) == NULL);
		blob_clear(&mended);
	}
}

static void
tames_a_line(void **state)
{
	static const struct {
		const char *wild, *tame;
	} lines[] = {
		{ "", "" },
		{ "caf\xc3\xa9 100%", "caf\xc3\xa9 100%" },
		{ "two\nlines\r\t\x1b[31m\x7f", "two?lines???[31m?" },
		{ "cut \xe2\x82", "cut ??" },
		{ "\xed\xa0\x80", "???" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		auto_free char *text = strdup(lines[i].wild);

		utf8_tame(text);
		assert_string_equal(text, lines[i].tame);
	}
}

/* Wherever a text is cut, what is left is whole, and lacks one character at most. */
static void
cuts(void **state)
{
	static const char text[] = "a\u00e9\u20ac\U0001f40d\U0001f40dz";

	(void)state;
	for (size_t size = 0; size < sizeof text; size++) {
		size_t whole = utf8_whole(text, size);

		assert_true(whole <= size && size - whole <= 4 && utf8_valid(text, whole));
		assert_int_equal(utf8_inside(text, size, sizeof text), !utf8_valid(text, size));
		assert_false(utf8_inside(text, size, size));
	}
	assert_int_equal(utf8_whole(text, 1), 1);
	assert_int_equal(utf8_whole("\x80\x80\x80\x80", 4), 4); /* not made longer work of */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_text_from_bytes),
		cmocka_unit_test(mends_bytes),
		cmocka_unit_test(mends_everything),
		cmocka_unit_test(mends_at_every_place),
		cmocka_unit_test(mends_text_at_once),
		cmocka_unit_test(tames_a_line),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
