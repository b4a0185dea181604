/* SPDX-License-Identifier: Apache-2.0 */
/* test_uri.c - templates and what they match. */
#include "gateway/mcp/resource/uri.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FILES "sandbox://artifacts/{session_id}/{+path}"
#define ONE   "sandbox://sessions/{session_id}"

static const struct match {
	const char *template, *uri;
	const char *variables; /* as sorted JSON; NULL: no match */
} matches[] = {
	{ "sandbox://status", "sandbox://status", "{}" },
	{ "sandbox://status", "sandbox://statu", NULL },
	{ "sandbox://status", "sandbox://status/", NULL }, { "sandbox://status", "", NULL },
	{ ONE, "sandbox://sessions/s1", "{\"session_id\":\"s1\"}" },
	{ ONE, "sandbox://sessions/", NULL }, { ONE, "sandbox://sessions", NULL },
	{ ONE, "sandbox://sessions/a/b", NULL }, { ONE, "sandbox://sessions/a?b", NULL },
	{ ONE, "sandbox://sessions/a%2Fb", "{\"session_id\":\"a/b\"}" },
	{ ONE, "sandbox://snapshots/a", NULL },
	{ FILES, "sandbox://artifacts/s/a.txt", "{\"path\":\"a.txt\",\"session_id\":\"s\"}" },
	{ FILES, "sandbox://artifacts/s/d/e%20f", "{\"path\":\"d/e f\",\"session_id\":\"s\"}" },
	{ FILES, "sandbox://artifacts/s/%25FF", "{\"path\":\"%FF\",\"session_id\":\"s\"}" },
	{ FILES, "sandbox://artifacts/s/%c3%BC", "{\"path\":\"\\u00fc\",\"session_id\":\"s\"}" },
	{ FILES, "sandbox://artifacts/s/", NULL }, { FILES, "sandbox://artifacts/s", NULL },
	{ FILES, "sandbox://artifacts//a", NULL }, { FILES, "sandbox://artifacts/s/a%00b", NULL },
	{ FILES, "sandbox://artifacts/s/a%", NULL }, { FILES, "sandbox://artifacts/s/a%4", NULL },
	{ FILES, "sandbox://artifacts/s/a%zz", NULL },
	{ FILES, "sandbox://artifacts/s/%ff", NULL }, /* no UTF-8 */
};

static void
matches_as(void **state)
{
	const struct match *m = *state;
	json_t *found = uri_match(m->template, m->uri);
	auto_free char *text =
	    found == NULL ? NULL
			  : json_dumps(found, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);

	json_decref(found);
	if (m->variables == NULL) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	if (strcasecmp(text, m->variables) != 0)
		fail_msg("%s, not %s", text, m->variables);
}

static void
refuses_what_is_too_long(void **state)
{
	auto_free char *uri = malloc(URI_MAX + 64);

	(void)state;
	memset(uri, 'a', URI_MAX + 63);
	uri[URI_MAX + 63] = '\0';
	memcpy(uri, "sandbox://sessions/", 19);
	assert_null(uri_match(ONE, uri));
}

static void
escapes_what_it_matches_again(void **state)
{
	static const char *const names[] = { "a.txt", "a b", "100%", "d/e f/#?",
		"gr\xc3\xbc\xc3\x9f", "%2F", "~-_.", "a+b&c=d", "\"<>\\^`{|}" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		auto_free char *path = uri_escape(names[i], URI_PATH),
			       *part = uri_escape(names[i], URI_PART);
		char uri[256];

		assert_null(strpbrk(path, " \"<>\\^`{|}#?"));
		assert_null(strchr(part, '/'));
		snprintf(uri, sizeof uri, "sandbox://artifacts/%s/%s", part, path);

		json_t *found = uri_match(FILES, uri);

		assert_string_equal(json_string_value(json_object_get(found, "path")), names[i]);
		assert_string_equal(
		    json_string_value(json_object_get(found, "session_id")), names[i]);
		json_decref(found);
	}
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(refuses_what_is_too_long),
		cmocka_unit_test(escapes_what_it_matches_again),
	};
	struct CMUnitTest tests[COUNT(matches) + COUNT(others)];
	size_t n = 0;

	for (; n < COUNT(matches); n++)
		tests[n] = (struct CMUnitTest){ matches[n].uri, matches_as, NULL, NULL,
			(void *)(uintptr_t)&matches[n] };
	memcpy(tests + n, others, sizeof others);
	return _cmocka_run_group_tests("uri", tests, COUNT(tests), NULL, NULL);
}
