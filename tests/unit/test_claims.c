/* SPDX-License-Identifier: Apache-2.0 */
/* test_claims.c - which claims an issuer may make, for which audience, and when. */
#include "common/credential/scope.h"
#include "gateway/auth/oauth/claims.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ISS "\"iss\":\"https://id.example\","
#define AUD "\"aud\":\"https://box.example/mcp\","
#define EXP "\"exp\":2000,"
#define SUB "\"sub\":\"ann\""

static const struct claims_rules rules = {
	.issuer = "https://id.example",
	.resource = "https://box.example/mcp",
	.namespace_claim = "org",
	.leeway_s = 30,
};

static int
read_text(const char *text, struct identity *who, struct err *e)
{
	json_t *claims = json_loads(text, 0, NULL);
	int failed;

	assert_non_null(claims);
	failed = claims_read(claims, &rules, 1000, who, e);
	json_decref(claims);
	return failed;
}

static const struct {
	const char *text, *why; /* NULL: taken */
} judged[] = {
	{ "{" ISS AUD EXP SUB "}", NULL },
	{ "{" AUD EXP SUB "}", "not this server's issuer" },
	{ "{\"iss\":\"https://id.example/\"," AUD EXP SUB "}", "not this server's issuer" },
	{ "{\"iss\":\"https://ID.example\"," AUD EXP SUB "}", "not this server's issuer" },
	{ "{\"iss\":[\"https://id.example\"]," AUD EXP SUB "}", "not this server's issuer" },
	{ "{" ISS EXP SUB "}", "aud does not contain" },
	{ "{" ISS "\"aud\":\"https://box.example\"," EXP SUB "}", "aud does not contain" },
	{ "{" ISS "\"aud\":\"https://box.example/mcp2\"," EXP SUB "}", "aud does not contain" },
	{ "{" ISS "\"aud\":[]," EXP SUB "}", "aud does not contain" },
	{ "{" ISS "\"aud\":{\"https://box.example/mcp\":1}," EXP SUB "}", "aud does not contain" },
	{ "{" ISS "\"aud\":[\"https://a\",\"https://box.example/mcp\"]," EXP SUB "}", NULL },
	{ "{" ISS "\"aud\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,\"https://box.example/"
	  "mcp\"]," EXP SUB "}",
	    "aud does not contain" },
	{ "{" ISS AUD SUB "}", "exp is missing or not" },
	{ "{" ISS AUD "\"exp\":\"2000\"," SUB "}", "exp is missing or not" },
	{ "{" ISS AUD "\"exp\":null," SUB "}", "exp is missing or not" },
	{ "{" ISS AUD "\"exp\":-1," SUB "}", "exp is missing or not" },
	{ "{" ISS AUD "\"exp\":1e300," SUB "}", "exp is missing or not" },
	{ "{" ISS AUD "\"exp\":9223372036854775807," SUB "}", "exp is missing or not" },
	{ "{" ISS AUD "\"exp\":971," SUB "}", NULL }, /* within the leeway */
	{ "{" ISS AUD "\"exp\":970," SUB "}", "expired" },
	{ "{" ISS AUD "\"exp\":0," SUB "}", "expired" },
	{ "{" ISS AUD "\"exp\":1500.75," SUB "}", NULL },
	{ "{" ISS AUD EXP "\"nbf\":1030," SUB "}", NULL },
	{ "{" ISS AUD EXP "\"nbf\":1031," SUB "}", "not yet valid" },
	{ "{" ISS AUD EXP "\"nbf\":\"0\"," SUB "}", "nbf or iat" },
	{ "{" ISS AUD EXP "\"iat\":1031," SUB "}", "iat is in the future" },
	{ "{" ISS AUD EXP "\"iat\":[]," SUB "}", "nbf or iat" },
	{ "{" ISS AUD "\"exp\":2000}", "sub is missing" },
	{ "{" ISS AUD EXP "\"sub\":\"\"}", "sub is missing" },
	{ "{" ISS AUD EXP "\"sub\":7}", "sub is missing" },
	{ "{" ISS AUD EXP "\"org\":7," SUB "}", "namespace" },
	{ "{" ISS AUD EXP "\"org\":\"\"," SUB "}", "namespace" },
	{ "{" ISS AUD EXP "\"org\":\"a b\"," SUB "}", "namespace" },
	{ "{" ISS AUD EXP "\"org\":"
	  "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"," SUB "}",
	    "namespace" },
	{ "{" ISS AUD EXP "\"org\":\"blue\"," SUB "}", NULL },
	{ "{}", "not this server's issuer" },
};

static void
judges_claims(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(judged); i++) {
		struct identity who;
		struct err e = { 0 };
		int failed = read_text(judged[i].text, &who, &e);

		if ((failed == 0) != (judged[i].why == NULL) ||
		    (failed < 0 &&
			(strstr(e.text, judged[i].why) == NULL || e.code != ERR_unauthenticated)))
			fail_msg("%s: %s", judged[i].text, failed < 0 ? e.text : "taken");
	}
}

static void
names_who_it_is(void **state)
{
	struct identity who;
	struct err e;

	(void)state;
	assert_int_equal(read_text("{" ISS AUD EXP "\"org\":\"blue\"," SUB "}", &who, &e), 0);
	assert_string_equal(who.owner.principal, "oauth:https://id.example#ann");
	assert_string_equal(who.owner.namespace, "blue");
	assert_int_equal(who.source, IDENTITY_OAUTH);
	assert_int_equal(who.expires_s, 2030);
	assert_int_equal(who.scopes, 0);
}

/* Two subjects are two principals, however long and strange they are. */
static void
keeps_subjects_apart(void **state)
{
	char texts[6][600];
	struct identity who[6];
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		static const char *const subjects[] = { "ann", "Ann", "a#nn", "a nn", "\\u00e4",
			"" };
		char *at =
		    texts[i] + sprintf(texts[i], "{" ISS AUD EXP "\"sub\":\"%s", subjects[i]);

		if (i == 5)
			at = (char *)memset(at, 'x', 200) + 200;
		strcpy(at, "\"}");
		assert_int_equal(read_text(texts[i], &who[i], &e), 0);
		assert_true(strncmp(who[i].owner.principal, "oauth:", 6) == 0);
		for (size_t j = 0; j < i; j++)
			assert_false(owner_equal(&who[i].owner, &who[j].owner));
	}
	assert_true(strncmp(who[3].owner.principal, "oauth:sha256:", 13) == 0);
	assert_true(strncmp(who[5].owner.principal, "oauth:sha256:", 13) == 0);
}

static void
reads_scopes(void **state)
{
	static const struct {
		const char *claim;
		unsigned scopes;
	} cases[] = {
		{ "\"scope\":\"cloister:run\"", 1 << scope_run },
		{ "\"scope\":\"openid  cloister:run cloister:read profile\"",
		    1 << scope_run | 1 << scope_read },
		{ "\"scope\":\"run read cloister: cloister:ru cloister:runn Cloister:run\"", 0 },
		{ "\"scope\":\"cloister:read\"", 1 << scope_read },
		{ "\"scope\":[\"cloister:run\"]", 1 << scope_run },
		{ "\"scp\":[\"cloister:run\",7,\"cloister:monitor\"]",
		    1 << scope_run | 1 << scope_monitor },
		{ "\"scp\":\"cloister:monitor\"", 1 << scope_monitor },
		{ "\"scope\":7", 0 },
		{ "\"scopes\":\"cloister:run\"", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[512];
		struct identity who;
		struct err e;

		snprintf(text, sizeof text, "{" ISS AUD EXP "%s," SUB "}", cases[i].claim);
		assert_int_equal(read_text(text, &who, &e), 0);
		assert_int_equal(who.scopes, cases[i].scopes);
	}
}

/* ---- scopes and what they are good for ---- */

static void
each_tool_needs_one_scope(void **state)
{
	(void)state;
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		unsigned needed = scope_of_tool((enum msg_id)id);

		if (messages[id].title == NULL)
			continue;
		assert_int_equal(__builtin_popcount(needed), 1);
		if ((messages[id].hints & READ_ONLY) == 0)
			assert_true(needed != 1 << scope_read && needed != 1 << scope_monitor);
	}
	assert_int_equal(scope_of_tool(message_find("execute_code")), 1 << scope_run);
	assert_int_equal(scope_of_tool(message_find("validate_code")), 1 << scope_read);
	assert_int_equal(scope_of_tool(message_find("audit_execution")), 1 << scope_monitor);
	assert_int_equal(scope_of_tool(message_find("set_resource_limits")), 1 << scope_run);
}

static void
scopes_have_names(void **state)
{
	char text[SCOPES_TEXT];

	(void)state;
	scope_text(0, text);
	assert_string_equal(text, "");
	scope_text(1 << scope_read | 1 << scope_run, text);
	assert_string_equal(text, "cloister:read cloister:run");
	scope_text(SCOPES_ALL, text);
	assert_int_equal(scope_parse_all(text), SCOPES_ALL);
	assert_int_equal(scope_parse("run", 3), 1 << scope_run);
	assert_int_equal(scope_parse("ru", 2), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_claims),
		cmocka_unit_test(names_who_it_is),
		cmocka_unit_test(keeps_subjects_apart),
		cmocka_unit_test(reads_scopes),
		cmocka_unit_test(each_tool_needs_one_scope),
		cmocka_unit_test(scopes_have_names),
	};

	return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
