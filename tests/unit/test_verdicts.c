/* SPDX-License-Identifier: Apache-2.0 */
/* test_verdicts.c - which of the validator's verdicts are cached: for which principal, for which
 * code, for how long. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/check/verdicts.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	SECONDS = 60, /* the setting's default */
};

/* A run, as far as it is remembered; imports are at most two. */
struct asked {
	const char *principal, *namespace, *profile, *code;
	unsigned language;
	const char *imports[2];
	bool listed;
};

static const struct asked first = {
	.principal = "ann",
	.namespace = "lab",
	.profile = "basic",
	.code = "1",
	.language = language_python,
	.imports = { "json", "math" },
	.listed = true,
};

/* What both functions get of it. */
static struct owner owner;
static struct plan plan;

static void
pose(const struct asked *a)
{
	static char *items[2];

	assert_true(owner_set(&owner, a->principal, a->namespace));
	plan = (struct plan){
		.language = a->language,
		.policy.profile = (char *)(uintptr_t)a->profile,
	};
	for (size_t i = 0; i < COUNT(items); i++)
		items[i] = (char *)(uintptr_t)a->imports[i];
	if (a->listed)
		plan.policy.imports =
		    (struct texts){ items, (size_t)(items[0] != NULL) + (items[1] != NULL) };
	hash_hex(a->code, strlen(a->code), plan.digest);
}

static bool
has(const struct asked *a)
{
	pose(a);
	return verdicts_has(&owner, &plan);
}

static void
keep(const struct asked *a)
{
	pose(a);
	verdicts_keep(&owner, &plan);
}

/* The same run of another's other code. */
static struct asked
numbered(const char *principal, unsigned number)
{
	static char code[16];
	struct asked a = first;

	snprintf(code, sizeof code, "%u", number);
	a.principal = principal;
	a.code = code;
	return a;
}

static bool
has_number(const char *principal, unsigned number)
{
	struct asked a = numbered(principal, number);

	return has(&a);
}

static void
keep_numbers(const char *principal, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		struct asked a = numbered(principal, i);

		keep(&a);
	}
}

static unsigned
count(const char *principal, unsigned from, unsigned to)
{
	unsigned there = 0;

	for (unsigned i = from; i < to; i++)
		there += has_number(principal, i);
	return there;
}

/* Each test has a validator of its own. */
static int
begin(void **state)
{
	static uint64_t lives;
	struct err e;

	(void)state;
	fake_reset();
	fake.counts.lost[PEER_validator] = lives += 100;
	return fake_options(&e);
}

static void
knows_what_passed(void **state)
{
	(void)state;
	assert_false(has(&first));
	keep(&first);
	assert_true(has(&first));
	assert_true(has(&first));
}

static void
takes_nothing_else_for_it(void **state)
{
	static const struct asked others[] = {
		{ "anm", "lab", "basic", "1", language_python, { "json", "math" }, true },
		{ "ann", "lac", "basic", "1", language_python, { "json", "math" }, true },
		{ "ann", "lab", "basib", "1", language_python, { "json", "math" }, true },
		{ "ann", "lab", "basic", "2", language_python, { "json", "math" }, true },
		{ "ann", "lab", "basic", "1", language_node, { "json", "math" }, true },
		{ "ann", "lab", "basic", "1", language_python, { "json", "mati" }, true },
		{ "ann", "lab", "basic", "1", language_python, { "math", "json" }, true },
		{ "ann", "lab", "basic", "1", language_python, { "json", NULL }, true },
		{ "ann", "lab", "basic", "1", language_python, { NULL, NULL }, true },
		{ "ann", "lab", "basic", "1", language_python, { NULL, NULL }, false },
		{ "", "lab", "basic", "1", language_python, { "json", "math" }, true },
		{ "ann", "", "basic", "1", language_python, { "json", "math" }, true },
		/* The same letters, cut elsewhere. */
		{ "annl", "ab", "basic", "1", language_python, { "json", "math" }, true },
		{ "ann", "labb", "asic", "1", language_python, { "json", "math" }, true },
		{ "ann", "lab", "basic", "1", language_python, { "jsonm", "ath" }, true },
		{ "ann", "lab", "basic", "1", language_python, { "jsonmath", NULL }, true },
		{ "ann", "lab", "basic", "1", language_python, { "jsonmath", "" }, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(others); i++) {
		for (size_t j = 0; j < i; j++)
			keep(&others[j]);
		keep(&first);
		assert_false(has(&others[i]));
	}
}

static void
holds_for_its_time_however_often_it_is_used(void **state)
{
	(void)state;
	keep(&first);
	for (int i = 0; i < SECONDS - 1; i++) {
		fake_pass(1000);
		assert_true(has(&first));
	}
	fake_pass(999);
	assert_true(has(&first));
	fake_pass(1);
	assert_false(has(&first));
	/* Asked again, it holds again. */
	keep(&first);
	assert_true(has(&first));
}

static void
holds_for_the_later_of_two_that_asked(void **state)
{
	(void)state;
	keep(&first);
	fake_pass(1000);
	keep(&first);
	fake_pass(SECONDS * 1000 - 1);
	assert_true(has(&first));
}

static void
is_turned_off(void **state)
{
	(void)state;
	keep(&first);
	options.verdict_seconds = 0;
	assert_false(has(&first));
	begin(state);
	options.verdict_seconds = 0;
	keep(&first);
	assert_false(has(&first));
	options.verdict_seconds = SECONDS;
	assert_false(has(&first));
}

static void
ends_with_a_validator(void **state)
{
	(void)state;
	keep(&first);
	fake.counts.lost[PEER_gateway]++;
	assert_true(has(&first));
	fake.counts.lost[PEER_validator]++;
	assert_false(has(&first));
	assert_false(has(&first));
	/* Lost between the question and the answer of another. */
	keep_numbers("ann", 2, 3);
	fake.counts.lost[PEER_validator]++;
	keep(&first);
	assert_true(has(&first));
	assert_false(has_number("ann", 2));
}

static void
loses_what_was_not_used_for_longest(void **state)
{
	(void)state;
	keep_numbers("ann", 0, VERDICTS);
	assert_int_equal(count("ann", 0, VERDICTS), VERDICTS);
	/* All were used, in this order; now the first once more. */
	assert_true(has_number("ann", 0));
	keep_numbers("ann", VERDICTS, VERDICTS + 3);
	assert_true(has_number("ann", 0));
	assert_int_equal(count("ann", 1, 4), 0);
	assert_int_equal(count("ann", 4, VERDICTS + 3), VERDICTS - 1);
}

/* One is over, though it was used last: it goes before any that is not. */
static void
loses_what_is_over_first(void **state)
{
	(void)state;
	keep(&first);
	fake_pass(SECONDS * 1000 - 1);
	keep_numbers("bob", 0, VERDICTS - 1);
	assert_true(has(&first));
	fake_pass(1);
	keep_numbers("bob", VERDICTS, VERDICTS + 1);
	assert_int_equal(count("bob", 0, VERDICTS + 1), VERDICTS);
}

static void
leaves_others_their_half(void **state)
{
	(void)state;
	keep_numbers("ann", 0, VERDICTS);
	keep_numbers("bob", 0, 10);
	keep_numbers("ann", VERDICTS, 5 * VERDICTS);
	assert_int_equal(count("bob", 0, 10), 10);
	assert_int_equal(count("ann", 0, 5 * VERDICTS), VERDICTS - 10);
	/* Who has less than half takes from whoever's is oldest, up to that. */
	keep_numbers("bob", 10, VERDICTS);
	assert_int_equal(count("bob", 0, VERDICTS), VERDICTS_EACH);
	assert_int_equal(count("ann", 0, 5 * VERDICTS), VERDICTS_EACH);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(knows_what_passed, begin),
		cmocka_unit_test_setup(takes_nothing_else_for_it, begin),
		cmocka_unit_test_setup(holds_for_its_time_however_often_it_is_used, begin),
		cmocka_unit_test_setup(holds_for_the_later_of_two_that_asked, begin),
		cmocka_unit_test_setup(is_turned_off, begin),
		cmocka_unit_test_setup(ends_with_a_validator, begin),
		cmocka_unit_test_setup(loses_what_was_not_used_for_longest, begin),
		cmocka_unit_test_setup(loses_what_is_over_first, begin),
		cmocka_unit_test_setup(leaves_others_their_half, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
