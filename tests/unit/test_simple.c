/* SPDX-License-Identifier: Apache-2.0 */
/* test_simple.c - what is said of a pattern without PCRE2 is what PCRE2 says. */
#include "validator/schema/regex.h"
#include "validator/schema/simple.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	PATTERNS = 20000,
	TEXTS = 30,
	LEAST_SAID = PATTERNS * TEXTS / 10,
};

static const char *const pieces[] = { "a", "b", "-", "*", "+", "?", "[ab]", "[^a]", "[a-c]", "[-b]",
	".", "\\d", "\\w", "\\.", "|", "(a|b)", "(?:ab)", "$", "^", "{2}", "[]", "[^]", "[\\w-]",
	"\\-", "\u00e9", "1", "+?" };
static const char *const letters[] = { "a", "b", "c", "-", "1", ".", "\n", "\u00e9", "\u2028", "" };

static const char *
one_of(const char *const *texts, size_t count, unsigned *seed)
{
	return texts[(unsigned)rand_r(seed) % count];
}

static void
make(char *text, const char *const *texts, size_t count, unsigned *seed)
{
	char *at = stpcpy(text, texts == pieces && rand_r(seed) % 3 != 0 ? "^" : "");

	for (unsigned n = (unsigned)rand_r(seed) % 6; n > 0; n--)
		at = stpcpy(at, one_of(texts, count, seed));
	if (texts == pieces && rand_r(seed) % 2 == 0)
		strcpy(at, "$");
}

/* An empty group in front leaves the pattern to PCRE2. Returns how many texts were decided. */
static size_t
compare(const char *pattern, unsigned *seed)
{
	const struct simple simple = simple_read(pattern, strlen(pattern));
	char whole[128] = "(?:)", text[64];
	size_t said = 0;
	struct err e;

	strcat(whole, pattern);
	struct regex *regex = regex_new(whole, strlen(whole), &e);
	for (int i = 0; i < TEXTS && regex != NULL; i++) {
		make(text, letters, COUNT(letters), seed);
		int got = simple_match(&simple, text, strlen(text));

		if (got >= 0 && got != regex_match(regex, text, strlen(text), &e))
			fail_msg("%s of \"%s\": %d", pattern, text, got);
		said += got >= 0;
	}
	regex_free(regex);
	return said;
}

static void
agrees_with_pcre(void **state)
{
	unsigned seed = 20;
	size_t said = 0;

	(void)state;
	for (int i = 0; i < PATTERNS; i++) {
		char pattern[64];
		struct err e;

		make(pattern, pieces, COUNT(pieces), &seed);
		struct regex *regex = regex_new(pattern, strlen(pattern), &e);
		if (regex != NULL)
			said += compare(pattern, &seed);
		regex_free(regex);
	}
	assert_true(said > LEAST_SAID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_pcre),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
