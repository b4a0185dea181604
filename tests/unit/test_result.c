/* SPDX-License-Identifier: Apache-2.0 */
/* test_result.c - replies as results: what is shown as an image, and what as text. */
#include "gateway/mcp/result.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *type, *name, *data, *text;
} handed[] = {
	{ "image/png", "a.png", "bytes", NULL },
	{ "text/html", NULL, NULL, "<table>" },
	{ "image/svg+xml", "b.svg", NULL, "<svg>" },
	{ "image/jpeg", NULL, "more", NULL },
	{ "application/x-other", NULL, "\xff", NULL },
};

static const struct account who = { .owner = { "somebody", "" } };

static json_t *
result_in(const char *version, bool success)
{
	struct execution run = {
		.success = success,
		.execution_id = strdup("exec_1"),
	};

	for (size_t i = 0; i < COUNT(handed); i++) {
		struct rich *r = list_add(&run.rich, sizeof *r);

		*r = (struct rich){ .mime_type = strdup(handed[i].type) };
		if (handed[i].name != NULL)
			r->name = strdup(handed[i].name);
		if (handed[i].data != NULL)
			r->data = blob_text(handed[i].data);
		if (handed[i].text != NULL)
			r->text = blob_text(handed[i].text);
	}

	json_t *result = result_of_reply(revision_agree(version), &who, MSG_execute_code, &run);

	message_clear(MSG_execution, &run);
	assert_non_null(result);
	return result;
}

static void
expect(const json_t *object, const char *key, const char *text)
{
	const char *got = json_string_value(json_object_get(object, key));

	if (text == NULL)
		assert_null(got);
	else
		assert_string_equal(got, text);
}

static void
expect_rich(const json_t *of)
{
	const json_t *rich = json_object_get(of, "rich");

	assert_int_equal(json_array_size(rich), COUNT(handed));
	for (size_t i = 0; i < COUNT(handed); i++) {
		const json_t *r = json_array_get(rich, i);

		expect(r, "mime_type", handed[i].type);
		expect(r, "name", handed[i].name);
		expect(r, "text", handed[i].text);
		expect(r, "data", i == 4 ? "/w==" : NULL);
	}
}

static void
pictures_stand_beside_the_text(void **state)
{
	static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26",
		"2024-11-05" };

	(void)state;
	for (size_t i = 0; i < COUNT(versions) * 2; i++) {
		bool structured = i / 2 < 2;
		json_t *result = result_in(versions[i / 2], i % 2 == 0);
		const json_t *content = json_object_get(result, "content");
		const json_t *told = json_object_get(result, "structuredContent");
		const char *text =
		    json_string_value(json_object_get(json_array_get(content, 0), "text"));
		json_t *same = json_loads(text, 0, NULL);

		assert_int_equal(json_array_size(content), 3);
		expect(json_array_get(content, 1), "type", "image");
		expect(json_array_get(content, 1), "mimeType", "image/png");
		expect(json_array_get(content, 1), "data", "Ynl0ZXM=");
		expect(json_array_get(content, 2), "mimeType", "image/jpeg");
		expect(json_array_get(content, 2), "data", "bW9yZQ==");
		assert_int_equal(json_is_object(told), structured);
		expect_rich(same);
		if (structured)
			expect_rich(told);
		assert_int_equal(json_is_true(json_object_get(result, "isError")), i % 2);
		json_decref(same);
		json_decref(result);
	}
}

/* The text has what a model needs: above all what is missing; programs find the rest elsewhere. */
static void
texts_are_brief(void **state)
{
	static char layer[] = "seccomp", lack[] = "memory limit: no cgroup", by[] = "rlimit",
		    box[] = "box", id[] = "exec_1", python[] = "python", proof[] = "signed";
	char *layers[] = { layer }, *missing[] = { lack };
	struct isolation in_force = {
		.backend = box, .layers = { layers, 1 }, .missing = { missing, 1 }, .limits_by = by
	};
	struct usage usage = { .wall_ms = 5 };
	struct execution run = { .success = true,
		.execution_id = id,
		.language = python,
		.usage = &usage,
		.isolation = &in_force,
		.audit_checkpoint = proof };

	(void)state;
	for (int old = 0; old < 2; old++) {
		const char *version = old ? "2024-11-05" : "2025-11-25";
		json_t *result =
		    result_of_reply(revision_agree(version), &who, MSG_execute_code, &run);
		const json_t *first = json_array_get(json_object_get(result, "content"), 0);
		const json_t *rest = json_object_get(result, old ? "_meta" : "structuredContent");

		expect(first, "text",
		    "{\"success\":true,\"execution_id\":\"exec_1\",\"exit_code\":0,"
		    "\"isolation\":{\"missing\":[\"memory limit: no cgroup\"]}}");
		expect(rest, old ? "cloister/audit_checkpoint" : "audit_checkpoint", "signed");
		expect(json_object_get(rest, old ? "cloister/isolation" : "isolation"), "limits_by",
		    "rlimit");
		json_decref(result);
	}
}

/* What stays is bounded in the text where it stands elsewhere, too. */
static void
long_results_stand_once(void **state)
{
	struct execution run = { .success = true, .execution_id = strdup("exec_1") };

	(void)state;
	run.stdout = (struct blob){ malloc(3 << 20), 3 << 20 };
	memset(run.stdout.data, 'x', run.stdout.size);

	json_t *result =
	    result_of_reply(revision_agree("2025-11-25"), &who, MSG_execute_code, &run);
	const json_t *text =
	    json_object_get(json_array_get(json_object_get(result, "content"), 0), "text");

	assert_true(json_string_length(text) < 1000);
	assert_non_null(strstr(json_string_value(text), "structuredContent"));
	json_decref(result);
	message_clear(MSG_execution, &run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pictures_stand_beside_the_text),
		cmocka_unit_test(texts_are_brief),
		cmocka_unit_test(long_results_stand_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
