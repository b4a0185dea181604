/* SPDX-License-Identifier: Apache-2.0 */
/* test_consent.c - no consent is used twice, even if the lists are flooded. */
#include "executor/kept/consent.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	LIFE_MS = 900000,
};

static int64_t now_ms = 1000;
static bool replied;

struct timespec
timestamp_now(void)
{
	return (struct timespec){ .tv_sec = now_ms / 1000, .tv_nsec = now_ms % 1000 * 1000000 };
}

void
call_reply(struct call *call, void *reply)
{
	(void)call;
	(void)reply;
	replied = true;
}

/* Each test begins when all that was noted before has expired. */
static int
later(void **state)
{
	(void)state;
	now_ms += 10 * LIFE_MS;
	return 0;
}

/* The consent of that number, made so long ago; ERR_none: it is used with that. */
static int
use(const char *principal, const char *namespace, unsigned number, int64_t age_ms)
{
	char id[33];
	struct call call = { 0 };
	struct spend_consent request = { id, (uint64_t)(now_ms - age_ms),
		(uint64_t)(now_ms - age_ms + LIFE_MS) };
	struct err e = { 0 };

	assert_true(owner_set(&call.owner, principal, namespace));
	snprintf(id, sizeof id, "%032u", number);
	replied = false;

	int failed = consent_on_spend_consent(&call, &request, &e);

	assert_int_equal(failed, e.code == ERR_none ? 0 : -1);
	assert_int_equal(replied, e.code == ERR_none);
	return (int)e.code;
}

static void
notes_each_once(void **state)
{
	(void)state;
	assert_int_equal(use("a", "", 1, 0), ERR_none);
	assert_int_equal(use("a", "", 1, 0), ERR_invalid_argument);
	assert_int_equal(use("a", "", 2, 0), ERR_none);
	/* Another's, and one's own in another namespace, stand on lists of their own. */
	assert_int_equal(use("b", "", 1, 0), ERR_none);
	assert_int_equal(use("a", "n", 1, 0), ERR_none);
	assert_int_equal(use("an", "", 1, 0), ERR_none);
	assert_int_equal(use("a", "", 2, 0), ERR_invalid_argument);
}

static void
remembers_until_it_expires(void **state)
{
	(void)state;
	assert_int_equal(use("a", "", 1, 0), ERR_none);
	now_ms += LIFE_MS;
	assert_int_equal(use("b", "", 1, 0), ERR_none); /* which sweeps */
	assert_int_equal(use("a", "", 1, LIFE_MS), ERR_invalid_argument);
}

/* Whoever uses more than have a place loses open ones, and none that was used comes back. */
static void
brings_none_back_where_it_is_full(void **state)
{
	(void)state;
	assert_int_equal(use("b", "", 1, 500), ERR_none);
	for (unsigned i = 0; i < 3 * CONSENT_USES; i++)
		assert_int_equal(use("a", "", i, 1000 - i), ERR_none);
	for (unsigned i = 0; i < 3 * CONSENT_USES; i++)
		assert_int_equal(use("a", "", i, 1000 - i), ERR_invalid_argument);
	/* One not used that is as old as those that went is void, one made since is not. */
	assert_int_equal(use("a", "", 100000, 1000), ERR_invalid_argument);
	assert_int_equal(use("a", "", 100001, 0), ERR_none);
	/* It is nobody else's loss. */
	assert_int_equal(use("b", "", 2, 1000), ERR_none);
	assert_int_equal(use("b", "", 1, 500), ERR_invalid_argument);
}

/* The same where the youngest are used first. */
static void
brings_none_back_in_any_order(void **state)
{
	unsigned used = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * CONSENT_USES; i++)
		used += use("a", "", i, i) == ERR_none;
	assert_true(used >= CONSENT_USES);
	for (unsigned i = 0; i < 2 * CONSENT_USES; i++)
		assert_int_equal(use("a", "", i, i), ERR_invalid_argument);
}

static void
refuses_more_owners_than_it_has_lists(void **state)
{
	char name[32];

	(void)state;
	for (unsigned i = 0; i < CONSENT_OWNERS; i++) {
		snprintf(name, sizeof name, "oauth:%u", i);
		assert_int_equal(use(name, "", 1, 0), ERR_none);
	}
	assert_int_equal(use("one more", "", 1, 0), ERR_queue_full);
	assert_int_equal(use("oauth:7", "", 1, 0), ERR_invalid_argument);
	assert_int_equal(use("oauth:7", "", 2, 0), ERR_none);
	now_ms += LIFE_MS + 1;
	assert_int_equal(use("one more", "", 1, 0), ERR_none);
}

/* What was used in an earlier life of the executor is not known. */
static void
takes_none_from_before_its_start(void **state)
{
	(void)state;
	consent_open();
	assert_int_equal(use("a", "", 1, 1), ERR_invalid_argument);
	assert_int_equal(use("a", "", 2, 0), ERR_none);
}

#define CASE(f) cmocka_unit_test_setup(f, later)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(notes_each_once),
		CASE(remembers_until_it_expires),
		CASE(brings_none_back_where_it_is_full),
		CASE(brings_none_back_in_any_order),
		CASE(refuses_more_owners_than_it_has_lists),
		CASE(takes_none_from_before_its_start),
	};

	return cmocka_run_group_tests_name("consent", tests, NULL, NULL);
}
