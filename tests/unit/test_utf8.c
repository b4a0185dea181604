/* SPDX-License-Identifier: Apache-2.0 */
/* test_utf8.c - which bytes are valid text, and how other bytes are mended. */
#include "common/base/auto.h"
#include "common/table/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static size_t copies; /* that utf8.c made */

static void *
counted_copy(void *to, const void *from, size_t size)
{
	copies++;
	return (char *)memcpy(to, from, size) + size;
}

#define mempcpy counted_copy
#include "common/base/utf8.c"
#undef mempcpy

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
	{ BYTES("a\0b"), true, NULL },
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
		bool same = cases[i].mended == NULL;
		const char *wanted = same ? cases[i].bytes : cases[i].mended;

		assert_non_null(mended.data);
		assert_int_equal(mended.size, same ? cases[i].size : strlen(wanted));
		assert_memory_equal(mended.data, wanted, mended.size + 1);
		blob_clear(&mended);
	}
}

/* Text is looked at eight bytes at once. */
static void
mends_at_every_place(void **state)
{
	char text[24];

	(void)state;
	for (size_t at = 0; at < sizeof text; at++) {
		memset(text, 'a', sizeof text);
		text[at] = '\xff';

		struct blob mended = utf8_mend(text, sizeof text);

		assert_int_equal(mended.size, sizeof text + 2);
		assert_int_equal(strspn(mended.data, "a"), at);
		assert_memory_equal((char *)mended.data + at, FFFD, 3);
		assert_int_equal(strspn((char *)mended.data + at + 3, "a"), sizeof text - at - 1);
		blob_clear(&mended);
	}
}

/* And what is not ASCII in blocks: a character or its half at every place of them. */
static void
looks_at_blocks_as_at_bytes(void **state)
{
	static const struct {
		const char *good, *bad;
	} parts[] = { { "\u00e9", "\xc3" }, { "\u20ac", "\xe2\x82" },
		{ "\U0001f40d", "\xf0\x9f\x90" }, { "\ued7f", "\xed\xa0\x80" },
		{ "\U0010ffff", "\xf4\x90\x80\x80" } };
	char text[3 * BLOCK + 8];

	(void)state;
	for (size_t i = 0; i < COUNT(parts) * COUNT(parts); i++)
		for (size_t at = 0; at + 4 < sizeof text; at++) {
			const char *good = parts[i / COUNT(parts)].good;
			const char *bad = parts[i % COUNT(parts)].bad;
			size_t n = strlen(good), size = at - at % n, lost = strlen(bad);

			for (size_t k = 0; k < size; k++)
				text[k] = good[k % n];
			assert_true(utf8_valid(text, size));
			memcpy(text + size, bad, lost);
			assert_false(utf8_valid(text, size + lost));
			memset(text + size + lost, 'z', sizeof text - size - lost);
			assert_false(utf8_valid(text, sizeof text));
			copies = 0;

			struct blob mended = utf8_mend(text, sizeof text);

			assert_int_equal(mended.size, sizeof text + 2 * lost);
			assert_memory_equal(mended.data, text, size);
			assert_memory_equal((char *)mended.data + size, FFFD, 3);
			assert_in_range(copies, 0, 9);
			blob_clear(&mended);
		}
}

/* Halves are looked at side by side: one byte that is none, at each place, in text of each kind. */
static void
sees_each_byte(void **state)
{
	static const char *const parts[] = { "a", "\u00e9", "\u20ac", "\U0001f40d" };
	char text[5 * BLOCK];

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++)
		for (size_t size = 1; size < sizeof text; size++) {
			size_t n = strlen(parts[i]);

			for (size_t k = 0; k < size; k++)
				text[k] = k < size - size % n ? parts[i][k % n] : 'z';
			assert_true(utf8_valid(text, size));
			for (size_t at = 0; at < size; at++) {
				char was = text[at];

				text[at] = '\xff';
				assert_false(utf8_valid(text, size));
				text[at] = was;
			}
		}
}

/* Nobody else is served while it is mended: each stretch of text is copied at once. */
static void
mends_text_at_once(void **state)
{
	static char text[4 << 20];
	const size_t bad[] = { 0, 1, 4096, sizeof text / 2 + 3, sizeof text - 1 };

	(void)state;
	memset(text, 'a', sizeof text);
	for (size_t i = 0; i <= COUNT(bad); i++) {
		copies = 0;

		struct blob mended = utf8_mend(text, sizeof text);

		assert_int_equal(mended.size, sizeof text + 2 * i);
		assert_in_range(copies, 1, 2 * i + 1);
		blob_clear(&mended);
		if (i < COUNT(bad))
			text[bad[i]] = '\xff';
	}
}

/* ---- of no more than so many bytes ---- */

#define GAP "[...]"

/* Head and tail are those of the whole text, mended, and no character more would go in. */
static void
check_fit(const char *bytes, size_t size, size_t most)
{
	struct blob whole = utf8_mend(bytes, size);
	bool cut;
	struct blob fit = utf8_fit(bytes, size, most, GAP, &cut);
	size_t half = (most - strlen(GAP)) / 2, head = 0;

	assert_true(fit.size <= most && utf8_valid(fit.data, fit.size));
	assert_int_equal(((char *)fit.data)[fit.size], 0);
	assert_int_equal(cut, whole.size > most);
	if (cut) {
		const char *gap = memmem(fit.data, fit.size, GAP, strlen(GAP));

		assert_non_null(gap);
		head = (size_t)(gap - (char *)fit.data);
	}

	size_t tail = cut ? fit.size - head - strlen(GAP) : fit.size;

	assert_memory_equal(fit.data, whole.data, head);
	assert_memory_equal(
	    (char *)fit.data + fit.size - tail, (char *)whole.data + whole.size - tail, tail);
	if (cut)
		assert_true(head <= half && tail <= half && head + 4 > half && tail + 4 > half);
	else
		assert_int_equal(fit.size, whole.size);
	blob_clear(&whole);
	blob_clear(&fit);
}

static void
fits_a_bound(void **state)
{
	static const char *const parts[] = { "a", "eight..8", "\xff", "\u00e9", "\u20ac",
		"\U0001f40d", "\xe2\x82", "\xf0\x9f", "\x80", "\xc3" };
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		char bytes[512];
		size_t size = 0;

		for (unsigned n = 0; n < (unsigned)i % 50; n++) {
			random = random * 1664525 + 1013904223;
			const char *part = parts[(random >> 16) % COUNT(parts)];

			size = (size_t)((char *)mempcpy(bytes + size, part, strlen(part)) - bytes);
			if ((random >> 8) % 10 == 0)
				bytes[size++] = 0;
		}
		for (size_t most = strlen(GAP) + 1; most < 200; most += 7)
			check_fit(bytes, size, most);
	}
}

/* Of bytes that all become three, what is over the bound is not even there to be read. */
static void
fits_without_the_middle(void **state)
{
	const size_t size = 9 << 20, page = 1 << 20;
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool cut = false;

	(void)state;
	assert_ptr_not_equal(bytes, MAP_FAILED);
	memset(bytes, 0xff, 4 * page);
	memset(bytes + 7 * page, 0xff, 2 * page);
	assert_int_equal(mprotect(bytes + 4 * page, 3 * page, PROT_NONE), 0);

	struct blob fit = utf8_fit(bytes, size, size, GAP, &cut);

	assert_true(cut);
	assert_in_range(fit.size, size - 8, size);
	assert_memory_equal(fit.data, FFFD FFFD, 6);
	assert_memory_equal((char *)fit.data + fit.size - 6, FFFD FFFD, 6);
	blob_clear(&fit);
	munmap(bytes, size);
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
		assert_int_equal(((char *)mended.data)[mended.size], 0);
		assert_int_equal(kept, utf8_valid(bytes, sizeof bytes));
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
		{ "\xc2\x9b"
		  "31mred\xc2\x85",
		    "?31mred?" },
		{ "a\xe2\x80\xaetxt.exe\xe2\x80\xac \xe2\x80\xa8\xe2\x81\xa7 \xe2\x82\xac",
		    "a?txt.exe? ?? \xe2\x82\xac" },
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
		cmocka_unit_test(looks_at_blocks_as_at_bytes),
		cmocka_unit_test(sees_each_byte),
		cmocka_unit_test(mends_text_at_once),
		cmocka_unit_test(fits_a_bound),
		cmocka_unit_test(fits_without_the_middle),
		cmocka_unit_test(tames_a_line),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
