/* SPDX-License-Identifier: Apache-2.0 */
/* test_frames.c - which of a guest's messages on its control channel are accepted, which are
 * dropped, and which end the reading. */
#include "executor/sandbox/frames.h"

#include "common/base/auto.h"
#include "executor/guest/protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(s) s, sizeof(s) - 1

static size_t looked_at; /* bytes, for one that is sought */

void *__real_memchr(const void *, int, size_t);
void *__wrap_memchr(const void *, int, size_t);

void *
__wrap_memchr(const void *bytes, int byte, size_t size)
{
	const char *found = __real_memchr(bytes, byte, size);

	looked_at += found != NULL ? (size_t)(found + 1 - (const char *)bytes) : size;
	return (void *)(uintptr_t)found;
}

/* Each is fed by one byte and as a whole; NULL: nothing of that kind is taken. */
static const struct claim {
	const char *name, *bytes;
	size_t size;
	int fed;
	const char *result, *variables, *type, *text;
	uint64_t line;
} claims[] = {
	{ "nothing", BYTES(""), 0, NULL, "", NULL, NULL, 0 },
	{ "a result", BYTES("R\x02\0\0\0{}"), 0, "{}", "", NULL, NULL, 0 },
	{ "an empty result", BYTES("R\0\0\0\0"), 0, "", "", NULL, NULL, 0 },
	{ "the later of two",
	    BYTES("R\1\0\0\0"
		  "1"
		  "R\1\0\0\0"
		  "2"),
	    0, "2", "", NULL, NULL, 0 },
	{ "a result cut short", BYTES("R\x05\0\0\0{}"), 0, NULL, "", NULL, NULL, 0 },
	{ "a result that is no UTF-8", BYTES("R\x02\0\0\0\xff\xfe"), 0, NULL, "", NULL, NULL, 0 },
	{ "names", BYTES("V\x04\0\0\0a\nb\n"), 0, NULL, "a b", NULL, NULL, 0 },
	{ "a name without its end", BYTES("V\x03\0\0\0a\nb"), 0, NULL, "a", NULL, NULL, 0 },
	{ "empty and bad names", BYTES("V\x08\0\0\0\n\xff\na\0b\nc"), 0, NULL, "", NULL, NULL, 0 },
	{ "an exception", BYTES("E\x0a\0\0\0Oops\n7\nbad"), 0, NULL, "", "Oops", "bad", 7 },
	{ "an exception of two lines", BYTES("E\x08\0\0\0T\n1\na\nb\n"), 0, NULL, "", "T", "a\nb\n",
	    1 },
	{ "a line that is no number", BYTES("E\x06\0\0\0T\n-1\na"), 0, NULL, "", NULL, NULL, 0 },
	{ "a line beyond all lines", BYTES("E\x0d\0\0\0T\n999999999\na"), 0, NULL, "", NULL, NULL,
	    0 },
	{ "an exception without lines", BYTES("E\x03\0\0\0abc"), 0, NULL, "", NULL, NULL, 0 },
	{ "idleness, and something about it", BYTES("I\0\0\0\0I\1\0\0\0x"), -1, NULL, "", NULL,
	    NULL, 0 },
	{ "an end of four digits",
	    BYTES("D\4\0\0\0"
		  "1000"),
	    -1, NULL, "", NULL, NULL, 0 },
	{ "a picture over its bound", BYTES("M\x82\0\x40\0"), -1, NULL, "", NULL, NULL, 0 },
	{ "an unknown kind", BYTES("X\0\0\0\0"), -1, NULL, "", NULL, NULL, 0 },
	{ "a program", BYTES("C\0\0\0\0"), -1, NULL, "", NULL, NULL, 0 },
	{ "a result over its bound", BYTES("R\x01\0\x10\0"), -1, NULL, "", NULL, NULL, 0 },
	{ "names over their bound", BYTES("V\x01\0\x01\0"), -1, NULL, "", NULL, NULL, 0 },
	{ "four gigabytes", BYTES("R\xff\xff\xff\xff"), -1, NULL, "", NULL, NULL, 0 },
	{ "rubbish after a result",
	    BYTES("R\x01\0\0\0"
		  "1\x01\x02\x03\x04\x05"),
	    -1, "1", "", NULL, NULL, 0 },
};

static int
feed(struct frames *f, const struct claim *c, size_t step)
{
	int r = 0;

	for (size_t at = 0; r == 0 && at < c->size; at += step)
		r = frames_feed(f, c->bytes + at, step < c->size - at ? step : c->size - at);
	return r;
}

static void
compare(const char *what, const char *want, const char *got)
{
	if (want == NULL ? got != NULL : got == NULL || strcmp(want, got) != 0)
		fail_msg("%s: wanted %s, got %s", what, want != NULL ? want : "none",
		    got != NULL ? got : "none");
}

static void
check(const struct claim *c, size_t step)
{
	struct frames f = { 0 };
	struct box_end end = { 0 };
	char names[256] = "";

	assert_int_equal(feed(&f, c, step), c->fed);
	frames_take(&f, &end);
	for (size_t i = 0, n = 0; i < end.variables.count; i++)
		n += (size_t)snprintf(
		    names + n, sizeof names - n, "%s%s", i > 0 ? " " : "", end.variables.items[i]);
	auto_free char *result =
	    end.result.data == NULL ? NULL : strndup(end.result.data, end.result.size);

	compare("result", c->result, result);
	compare("variables", c->variables, names);
	compare("type", c->type, end.error_type);
	compare("text", c->text, end.error_text);
	assert_int_equal(end.error_line, c->line);
	frames_clear(&f);
	blob_clear(&end.result);
	texts_clear(&end.variables);
	free(end.error_type);
	free(end.error_text);
}

/* The last of them holds, and for one taking only. */
static void
code_that_is_none_is_told_apart(void **state)
{
	static const char read[] = "E\4\0\0\0T\n1\n", unread[] = "U\4\0\0\0T\n2\n";
	struct frames f = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct box_end end = { 0 };

		assert_int_equal(frames_feed(&f, i == 1 ? unread : read, sizeof read - 1), 0);
		if (i == 2)
			assert_int_equal(frames_feed(&f, unread, sizeof unread - 1), 0);
		frames_take(&f, &end);
		assert_int_equal(end.unreadable, i == 1 || i == 2);
		assert_int_equal(end.error_line, end.unreadable ? 2 : 1);
		assert_string_equal(end.error_type, "T");
		free(end.error_type);
		free(end.error_text);
	}
	frames_clear(&f);
}

static void
is_taken_as_it_should(void **state)
{
	const struct claim *c = *state;

	check(c, 1);
	check(c, 3);
	check(c, c->size + 1);
}

/* A driver never sends more than 256 names; a program that writes to the channel itself may.  Those
 * beyond are not looked at: everybody else would wait meanwhile. */
static void
names_are_counted(void **state)
{
	uint8_t frame[5 + 2 * 1000] = { 'V', 2000 & 255, 2000 >> 8, 0, 0 };
	struct frames f = { 0 };

	(void)state;
	for (size_t i = 5; i < sizeof frame; i += 2)
		memcpy(frame + i, "a\n", 2);
	looked_at = 0;
	assert_int_equal(frames_feed(&f, frame, sizeof frame), 0);
	assert_int_equal(f.variables.count, 256);
	assert_in_range(looked_at, 256, 256 * 3); /* for its end, and for a zero byte */
	frames_clear(&f);
}

/* Of what comes between two runs nothing is kept, and the stream stays in step. */
static void
muted_it_keeps_nothing(void **state)
{
	struct frames f = { 0 };
	struct box_end end = { 0 };

	(void)state;
	assert_int_equal(frames_feed(&f,
			     "R\x04\0\0\0"
			     "12",
			     7),
	    0);
	frames_mute(&f, true);
	assert_null(f.payload);
	assert_int_equal(frames_feed(&f,
			     "34"
			     "R\x01\0\0\0"
			     "5"
			     "V\x02\0\0\0"
			     "a\n",
			     15),
	    0);
	assert_int_equal(frames_feed(&f,
			     "D\x01\0\0\0"
			     "0"
			     "M\x04\0\0\0"
			     "a/b",
			     14),
	    0);
	assert_null(f.payload);
	assert_false(f.done);
	frames_mute(&f, false);
	assert_int_equal(frames_feed(&f,
			     "\n"
			     "R\x01\0\0\0"
			     "6"
			     "D\x01\0\0\0"
			     "0",
			     13),
	    0);
	assert_true(f.done);
	frames_take(&f, &end);
	assert_int_equal(end.nrich, 0);
	assert_int_equal(end.variables.count, 0);
	assert_int_equal(end.result.size, 1);
	assert_memory_equal(end.result.data, "6", 1);
	blob_clear(&end.result);
	/* What is not the protocol is told as ever. */
	frames_mute(&f, true);
	assert_int_equal(frames_feed(&f, "M\xff\xff\xff\xff", 5), -1);
	frames_clear(&f);
}

static void
long_texts_are_cut_between_characters(void **state)
{
	uint8_t frame[5 + 4 + 3 * 2000] = { 'E', (4 + 6000) & 255, (4 + 6000) >> 8, 0, 0 };
	struct frames f = { 0 };

	(void)state;
	memcpy(frame + 5, "T\n1\n", 4);
	for (size_t i = 9; i < sizeof frame; i += 3)
		memcpy(frame + i, "\xe2\x82\xac", 3); /* the euro sign */
	assert_int_equal(frames_feed(&f, frame, sizeof frame), 0);
	assert_int_equal(strlen(f.error_text), 4095);
	frames_clear(&f);
}

static void
says_how_a_statement_ended(void **state)
{
	static const struct {
		const char *frame;
		size_t size;
		int status;
	} cases[] = {
		{ BYTES("D\1\0\0\0"
			"0"),
		    0 },
		{ BYTES("D\3\0\0\0"
			"255"),
		    255 },
		{ BYTES("D\3\0\0\0"
			"256"),
		    1 },
		{ BYTES("D\0\0\0\0"), 1 },
		{ BYTES("D\2\0\0\0"
			"-1"),
		    1 },
		{ BYTES("D\1\0\0\0"
			"x"),
		    1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct frames f = { 0 };
		struct box_end end = { 0 };

		assert_int_equal(frames_feed(&f, cases[i].frame, cases[i].size), 0);
		assert_true(f.done);
		assert_int_equal(f.status, cases[i].status);
		/* The next statement is not over because this one is. */
		frames_take(&f, &end);
		assert_false(f.done);
		frames_clear(&f);
	}
}

static void
feed_picture(struct frames *f, const char *type, size_t size)
{
	size_t length = strlen(type), all = length + size;
	auto_free uint8_t *frame = calloc(1, 5 + all);

	frame[0] = 'M';
	for (int i = 0; i < 4; i++)
		frame[1 + i] = (uint8_t)(all >> 8 * i);
	memcpy(frame + 5, type, length);
	assert_int_equal(frames_feed(f, frame, 5 + all), 0);
}

static void
takes_pictures_of_a_type(void **state)
{
	static const char *const bad[] = { "", "\n", "png\n", "/png\n", "image/\n", "a/b/c\n",
		"image/p ng\n", "image/png; x=y\n", "image/\xc3\xa9\n", "image/png" };
	struct frames f = { 0 };
	struct box_end end = { 0 };
	char type[200];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		feed_picture(&f, bad[i], 0);
	memset(type, 'a', sizeof type);
	memcpy(type, "image/", 6);
	memcpy(type + 129, "\n", 2);
	feed_picture(&f, type, 0);
	assert_int_equal(f.nrich, 0);
	memcpy(type + 128, "\n", 2);
	feed_picture(&f, type, 3);
	for (int i = 0; i < 20; i++)
		feed_picture(&f, "image/svg+xml\n", GUEST_MAX_RICH);
	frames_take(&f, &end);
	assert_int_equal(end.nrich, GUEST_MAX_RICHES);
	assert_int_equal(strlen(end.rich[0].mime_type), 128);
	assert_int_equal(end.rich[0].data.size, 3);
	assert_string_equal(end.rich[1].mime_type, "image/svg+xml");
	assert_int_equal(end.rich[7].data.size, GUEST_MAX_RICH);
	/* Those of the next run are counted anew. */
	feed_picture(&f, "image/png\n", 1);
	assert_int_equal(f.nrich, 1);
	frames_clear(&f);
	box_end_clear(&end);
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(claims) + 7];
	size_t n = 0;

	for (; n < COUNT(claims); n++)
		tests[n] = (struct CMUnitTest){ claims[n].name, is_taken_as_it_should, NULL, NULL,
			(void *)(uintptr_t)&claims[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_are_counted);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(code_that_is_none_is_told_apart);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(muted_it_keeps_nothing);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(says_how_a_statement_ended);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(takes_pictures_of_a_type);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(long_texts_are_cut_between_characters);
	return _cmocka_run_group_tests("frames", tests, n, NULL, NULL);
}
