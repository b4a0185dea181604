/* SPDX-License-Identifier: Apache-2.0 */
/* test_advice.c - no toolset advises to call a tool that it lacks. */
#include "gateway/mcp/advice.h"
#include "gateway/mcp/tools.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
choose(const char *toolsets)
{
	struct err e;

	assert_int_equal(tools_choose(toolsets, &e), 0);
}

/* NULL: nothing is left. */
static void
assert_advice(const char *text, const char *expected)
{
	json_t *advice = advice_of(text);

	if (expected == NULL)
		assert_null(advice);
	else
		assert_string_equal(json_string_value(advice), expected);
	json_decref(advice);
}

static void
drops_the_sentences_of_other_toolsets(void **state)
{
	static const char there[] = "There is no such file. List them with sandbox_list_artifacts, "
				    "or upload one with sandbox_upload_file.";

	(void)state;
	choose("python-sandbox");
	assert_advice(there, "There is no such file.");
	assert_advice("Use list_runtimes. Python is there.", "Python is there.");
	assert_advice("see request_egress", NULL);
	assert_advice("Read a.b or validate_code.", "Read a.b or validate_code.");
	assert_advice("Not a tool: sandbox_list_artifacts_of_mine, execute, heartbeat.",
	    "Not a tool: sandbox_list_artifacts_of_mine, execute, heartbeat.");
	choose("mcp-code-sandbox");
	assert_advice(there, there);
	choose("core");
	assert_advice(there, there);
	assert_advice("", NULL);
	assert_advice("...  . ", "...  .");
}

/* And nothing else of a reply, which can be the program's. */
static void
changes_the_hint_and_the_notes(void **state)
{
	static const char text[] =
	    "{\"error\": {\"hint\": \"%s\", \"message\": \"sandbox_read_artifact\"}, \"notes\": "
	    "[\"Kept. sandbox_read_artifact reads it.\", \"sandbox_read_artifact reads it.\"], "
	    "\"result\": {\"hint\": \"sandbox_read_artifact\"}, \"stdout\": "
	    "\"sandbox_read_artifact\"}";
	json_t *reply = json_loads(text, 0, NULL), *fitted;

	(void)state;
	choose("python-sandbox");
	assert_non_null(reply);
	json_object_set_new(
	    json_object_get(reply, "error"), "hint", json_string("Use sandbox_read_artifact."));
	advice_fit(reply);
	fitted = json_loads(
	    "{\"error\": {\"message\": \"sandbox_read_artifact\"}, \"notes\": [\"Kept.\"], "
	    "\"result\": {\"hint\": \"sandbox_read_artifact\"}, \"stdout\": "
	    "\"sandbox_read_artifact\"}",
	    0, NULL);
	assert_true(json_equal(reply, fitted));
	json_decref(reply);
	json_decref(fitted);
	advice_fit(NULL);
}

/* What a refused call says, in each toolset, without a word that only another one has. */
static void
each_code_has_a_remedy_everywhere(void **state)
{
	static const char *const toolsets[] = { "core", "monitor", "core,monitor", "all",
		"mcp-secure-sandbox", "python-sandbox", "sandboxmcp", "mcp-code-sandbox" };

	(void)state;
	for (size_t i = 0; i < COUNT(toolsets); i++) {
		choose(toolsets[i]);
		for (int code = ERR_none + 1; code < ERR_COUNT; code++) {
			json_t *advice = advice_of(err_remedy((enum err_code)code));

			assert_non_null(advice);
			json_decref(advice);
		}
	}
}

static void
takes_the_remedy_of_a_limit_from_its_text(void **state)
{
	static const struct {
		const char *text, *hint;
		enum err_code code;
	} tried[] = {
		{ "a; b: a match takes 9 steps; write it otherwise", "Write it otherwise.",
		    ERR_limit_exceeded },
		{ "too many; is the quote closed?", "Is the quote closed?", ERR_limit_exceeded },
		{ "too many", NULL, ERR_limit_exceeded },
		{ "nothing; drop it", NULL, ERR_not_found },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct err e;

		err_set(&e, tried[i].code, "%s", tried[i].text);
		json_t *hint = advice_of_error(&e);
		assert_string_equal(json_string_value(hint),
		    tried[i].hint != NULL ? tried[i].hint : err_remedy(tried[i].code));
		json_decref(hint);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_the_sentences_of_other_toolsets),
		cmocka_unit_test(changes_the_hint_and_the_notes),
		cmocka_unit_test(each_code_has_a_remedy_everywhere),
		cmocka_unit_test(takes_the_remedy_of_a_limit_from_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
