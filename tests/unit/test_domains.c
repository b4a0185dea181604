/* SPDX-License-Identifier: Apache-2.0 */
/* test_domains.c - the form of a domain, groups, and the lists of operator, session, call. */
#include "executor/run/network/domains.h"

#include "executor/options.h"
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/domain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
settle(const char *setting)
{
	struct err e;

	options.egress_domains = (char *)(uintptr_t)setting;
	if (domains_settle(&e) < 0)
		fail_msg("%s", e.text);
}

static void
has_one_form(void **state)
{
	static const struct {
		const char *text, *form; /* NULL: refused */
	} cases[] = {
		{ "Example.COM", "example.com" },
		{ "example.com.:443", "example.com:443" },
		{ "*.Example.com", "*.example.com" },
		{ "a_b.example", "a_b.example" },
		{ "b\u00fccher.example", "xn--bcher-kva.example" },
		{ "*.B\u00dcCHER.example:8443", "*.xn--bcher-kva.example:8443" },
		{ "fa\u00df.example", "xn--fa-hia.example" },
		{ "a\u3002example", "a.example" },
		{ "0xyz.0xyz", "0xyz.0xyz" },
		{ "", NULL },
		{ "com", NULL },
		{ "*.com", NULL },
		{ "*", NULL },
		{ "a..example", NULL },
		{ ".example.com", NULL },
		{ "-a.example", NULL },
		{ "127.0.0.1", NULL },
		{ "0x7f.1", NULL },
		{ "127.0x1", NULL },
		{ "\uff11\uff12\uff17.0.0.\uff11", NULL },
		{ "[::1]", NULL },
		{ "example.com:0", NULL },
		{ "example.com:65536", NULL },
		{ "example.com: 80", NULL },
		{ "example.com/x", NULL },
		{ "a\uff0fb.example", NULL },
		{ "\xff.example", NULL },
	};
	char form[DOMAIN_CANONICAL];
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int r = domain_check(cases[i].text, form, &e);

		if (r != (cases[i].form != NULL ? 0 : -1))
			fail_msg("%s: %d", cases[i].text, r);
		if (r == 0)
			assert_string_equal(form, cases[i].form);
		else
			assert_int_equal(e.code, ERR_invalid_argument);
	}
}

static void
refuses_long_names(void **state)
{
	char name[300], form[DOMAIN_CANONICAL];
	struct err e;

	(void)state;
	for (size_t size = 250; size < 256; size++) {
		for (size_t i = 0; i < size; i++)
			name[i] = i % 50 == 49 && i + 1 < size ? '.' : 'a';
		name[size] = '\0';
		assert_int_equal(domain_check(name, form, &e), size <= 253 ? 0 : -1);
	}
}

/* What a run with that list in that session may reach, separated by blanks; NULL: refused. */
static const char *
reach(const char *domain, const char *session, bool enable, struct err *e)
{
	static char text[4096];
	char *item = (char *)(uintptr_t)domain;
	struct execute_code ask = { .enable_network = enable,
		.allowed_domains = { &item, domain != NULL ? 1 : 0 } };
	struct texts found;
	int r = domains_of_run(&ask, session, &found, e);

	text[0] = '\0';
	for (size_t i = 0; i < found.count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
		    found.items[i]);
	texts_clear(&found);
	return r == 0 ? text : NULL;
}

static void
is_within_all_lists(void **state)
{
	struct err e;

	(void)state;
	settle("*.example.com, other.example,B\u00fccher.example");
	assert_string_equal(reach(NULL, NULL, false, &e), "");
	assert_string_equal(
	    reach(NULL, NULL, true, &e), "*.example.com other.example xn--bcher-kva.example");
	assert_string_equal(reach("A.Example.com.", NULL, false, &e), "a.example.com");
	assert_string_equal(reach("b\u00fccher.example", NULL, false, &e), "xn--bcher-kva.example");
	assert_null(reach("example.com", NULL, false, &e));
	assert_int_equal(e.code, ERR_egress_denied);

	assert_string_equal(
	    reach(NULL, "a.example.com,b.example.com", false, &e), "a.example.com b.example.com");
	assert_string_equal(
	    reach("a.example.com", "a.example.com,b.example.com", true, &e), "a.example.com");
	assert_null(reach("other.example", "a.example.com,b.example.com", false, &e));
	assert_int_equal(e.code, ERR_egress_denied);
	assert_non_null(strstr(e.text, "session"));
	assert_null(reach("*.example.com", "a.example.com", false, &e));
	assert_string_equal(reach("other.example", "*", false, &e), "other.example");
	assert_string_equal(
	    reach(NULL, "*", false, &e), "*.example.com other.example xn--bcher-kva.example");
	settle("");
	assert_null(reach(NULL, NULL, true, &e));
	assert_null(reach(NULL, "a.example.com", false, &e));
}

static void
keeps_a_list_with_a_session(void **state)
{
	char first[] = "A.example.com", second[] = "other.example";
	char *items[] = { first, second };
	struct create_session ask = { .allowed_domains = { items, 2 } };
	auto_free char *list = NULL, *all = NULL;
	struct err e;

	(void)state;
	settle("*.example.com");
	assert_int_equal(domains_of_session(&ask, &list, &e), -1);
	assert_int_equal(e.code, ERR_egress_denied);
	settle("*.example.com,other.example");
	assert_int_equal(domains_of_session(&ask, &list, &e), 0);
	assert_string_equal(list, "a.example.com,other.example");
	assert_int_equal(
	    domains_of_session(&(struct create_session){ .enable_network = true }, &all, &e), 0);
	assert_string_equal(all, "*");
	settle("");
	free(take_ptr(all));
	assert_int_equal(domains_of_session(&(struct create_session){ 0 }, &all, &e), 0);
	assert_null(all);
	assert_int_equal(
	    domains_of_session(&(struct create_session){ .enable_network = true }, &all, &e), -1);
}

static void
knows_groups(void **state)
{
	struct err e;

	(void)state;
	setenv("PIP_INDEX_URL", "https://user:secret@index.example:3141/simple", 1);
	assert_int_equal(index_hosts_settle("/nonexistent", &e), 0);
	settle("pypi,github");
	assert_string_equal(reach("pypi", NULL, false, &e), "index.example:3141");
	assert_non_null(strstr(reach("github", NULL, false, &e), "codeload.github.com"));
	assert_string_equal(reach("index.example:3141", NULL, false, &e), "index.example:3141");
	assert_null(reach("npm", NULL, false, &e));
	assert_int_equal(e.code, ERR_invalid_argument);
	/* A wrong entry leaves the others. */
	settle("*.test, other.example, http://x, localhost");
	assert_null(reach("pypi", NULL, false, &e));
	assert_int_equal(e.code, ERR_egress_denied);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_one_form),
		cmocka_unit_test(refuses_long_names),
		cmocka_unit_test(is_within_all_lists),
		cmocka_unit_test(keeps_a_list_with_a_session),
		cmocka_unit_test(knows_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
