/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold.c - output with lines that were drawn again. */
#include "gateway/mcp/resource/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LONG \
	"----------------------------------------------------------------------------------------" \
	"----------------------------------------------------------------------------------------" \
	"----------------------------------------------------------------------------------------"
#define TEXT(text) text, sizeof(text) - 1

static const struct {
	const char *text;
	size_t size;
	const char *shown; /* NULL: the text itself */
	size_t redrawn;
} cases[] = {
	{ TEXT(LONG "\rend\n"), "end\n", 1 },
	{ TEXT("a\n" LONG "\r" LONG "\rend\nb"), "a\nend\nb", 2 },
	{ TEXT("\r" LONG "\rend\r\nb"), "end\r\nb", 1 },
	{ TEXT(LONG "\rend\r\r\nb\r\n"), "end\r\r\nb\r\n", 1 },
	{ TEXT(LONG "\x1b[Gend\n" LONG "\x1b[1Gend"), "end\nend", 2 },
	{ TEXT(LONG "\nb\x1b[1A" LONG "\x1b[0Gend\n"), "end\nb", 2 },
	{ TEXT("a\n" LONG "\nc\n\x1b[2F\x1b[32mend\x1b[0m\n"), "a\n\x1b[32mend\x1b[0m\nc\n", 1 },
	{ TEXT("\x1b[9999A" LONG "\rend"), "end", 1 },
	{ TEXT(LONG "\rend\0\n"), "end\0\n", 1 },
	{ TEXT(LONG "\r"), NULL, 0 },
	{ TEXT(LONG LONG "\r\n" LONG "\n"), NULL, 0 },
	{ TEXT("short\rend\n"), NULL, 0 },
	{ TEXT(LONG "\x1b[2Gend\x1b[\x1b"), NULL, 0 },
	{ TEXT(LONG "\x1b[12345A" LONG "\x1b["), NULL, 0 },
	{ TEXT(""), NULL, 0 },
};

static void
shows_the_last_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t redrawn = 0, size = cases[i].shown == NULL ? 0 : strlen(cases[i].shown);
		struct blob folded = fold_redrawn(cases[i].text, cases[i].size, &redrawn);

		if (cases[i].shown == NULL) {
			assert_null(folded.data);
			continue;
		}
		assert_non_null(folded.data);
		assert_in_range(folded.size, size, size + 2);
		assert_memory_equal(folded.data, cases[i].shown, size);
		assert_int_equal(redrawn, cases[i].redrawn);
		free(folded.data);
	}
}

/* Lines that are far above cannot be reached. */
static void
reaches_the_last_lines(void **state)
{
	char text[4000] = "";
	size_t redrawn;

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(text, "line\n");
	strcat(text, "\x1b[99A" LONG "\rend");

	struct blob folded = fold_redrawn(text, strlen(text), &redrawn);

	assert_int_equal(folded.size, 100 * 5 - 1);
	assert_memory_equal((char *)folded.data + 37 * 5, "end\nline\n", 9);
	assert_int_equal(redrawn, 2);
	free(folded.data);
}

/* Any text: never longer, nothing read or written outside (the sanitizers look). */
static void
takes_any_text(void **state)
{
	static const char alphabet[] = "\r\n\x1b[A1Gx";
	char text[600];

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t size = (size_t)rand() % sizeof text, redrawn;
		char *exact = malloc(size + 1);

		for (size_t i = 0; i < size; i++)
			exact[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];

		struct blob folded = fold_redrawn(exact, size, &redrawn);

		assert_true(folded.size <= size);
		free(folded.data);
		free(exact);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_the_last_state),
		cmocka_unit_test(reaches_the_last_lines),
		cmocka_unit_test(takes_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
