/* SPDX-License-Identifier: Apache-2.0 */
/* test_frames.c - what a guest claims on its control channel: what is taken, what is dropped, what
 * ends the reading. */
#include "executor/box/frames.h"

#include "common/auto.h"
#include "executor/guest/protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(s) s, sizeof(s) - 1

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

static void
is_taken_as_it_should(void **state)
{
	const struct claim *c = *state;

	check(c, 1);
	check(c, 3);
	check(c, c->size + 1);
}

/* A driver never sends more than 256 names; a program that writes to the channel itself may. */
static void
names_are_counted(void **state)
{
	uint8_t frame[5 + 2 * 1000] = { 'V', 2000 & 255, 2000 >> 8, 0, 0 };
	struct frames f = { 0 };

	(void)state;
	for (size_t i = 5; i < sizeof frame; i += 2)
		memcpy(frame + i, "a\n", 2);
	assert_int_equal(frames_feed(&f, frame, sizeof frame), 0);
	assert_int_equal(f.variables.count, 256);
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

int
main(void)
{
	struct CMUnitTest tests[COUNT(claims) + 2];
	size_t n = 0;

	for (; n < COUNT(claims); n++)
		tests[n] = (struct CMUnitTest){ claims[n].name, is_taken_as_it_should, NULL, NULL,
			(void *)(uintptr_t)&claims[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_are_counted);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(long_texts_are_cut_between_characters);
	return _cmocka_run_group_tests("frames", tests, n, NULL, NULL);
}
