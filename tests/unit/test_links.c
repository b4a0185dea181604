/* SPDX-License-Identifier: Apache-2.0 */
/* test_links.c - links to files: for which client they open which file, and until when. */
#include "gateway/mcp/links.h"
#include "gateway/options.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct owner someone = { "token:ci", "build" };

static int
start(void **state)
{
	static char none[] = "";
	struct err e;

	(void)state;
	options.link_key = none;
	options.link_ttl_s = 60;
	return links_open(&e);
}

/* The seal of a link, within it. */
static const char *
seal_of(const char *link)
{
	return strstr(link, "?t=") + 3;
}

static void
opens_what_it_is_for(void **state)
{
	struct owner owner;
	struct err e;
	auto_free char *link = links_make("http://h:1", &someone, "sess_1", "a/b c%20ä.txt");

	(void)state;
	assert_non_null(link);
	assert_int_equal(strncmp(link, "http://h:1/files/sess_1/a/b%20c%2520%C3%A4.txt?t=", 49), 0);
	assert_int_equal(links_check("sess_1", "a/b c%20ä.txt", seal_of(link), &owner, &e), 0);
	assert_string_equal(owner.principal, "token:ci");
	assert_string_equal(owner.namespace, "build");
}

static void
opens_nothing_else(void **state)
{
	struct owner owner;
	struct err e;
	auto_free char *link = links_make("", &someone, "sess_1", "a");
	auto_free char *seal = strdup(seal_of(link));

	(void)state;
	assert_int_equal(links_check("sess_1", "b", seal, &owner, &e), -1);
	assert_int_equal(links_check("sess_2", "a", seal, &owner, &e), -1);
	assert_int_equal(links_check("sess_1/a", "", seal, &owner, &e), -1);
	assert_int_equal(links_check("sess_1", "a", "", &owner, &e), -1);
	assert_int_equal(links_check("sess_1", "a", "!", &owner, &e), -1);
	for (size_t i = 0; seal[i] != '\0'; i++) {
		char was = seal[i];

		seal[i] = was == 'A' ? 'B' : 'A';
		assert_int_equal(links_check("sess_1", "a", seal, &owner, &e), -1);
		seal[i] = '\0';
		assert_int_equal(links_check("sess_1", "a", seal, &owner, &e), -1);
		seal[i] = was;
	}
	assert_int_equal(links_check("sess_1", "a", seal, &owner, &e), 0);
}

static void
ends(void **state)
{
	struct owner owner;
	struct err e;

	(void)state;
	options.link_ttl_s = 0;

	auto_free char *link = links_make("", &someone, "sess_1", "a");

	options.link_ttl_s = 60;
	sleep(1);
	assert_int_equal(links_check("sess_1", "a", seal_of(link), &owner, &e), -1);
	assert_non_null(strstr(e.text, "expired"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_what_it_is_for),
		cmocka_unit_test(opens_nothing_else),
		cmocka_unit_test(ends),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
