/* SPDX-License-Identifier: Apache-2.0 */
/* test_tokens.c - the file of tokens: which lines are accepted, which are refused, and lookups. */
#include "common/credential/scope.h"
#include "common/credential/tokens.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HASH_A "\"sha256\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""
#define HASH_B "\"sha256\":\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\""
#define X32    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static int
read_text(const char *text, struct tokens *tokens, struct err *e)
{
	return tokens_read(&(struct blob){ (void *)(uintptr_t)text, strlen(text) }, tokens, e);
}

static void
refuses_with_line_and_field(void **state)
{
	static const struct {
		const char *text, *why; /* NULL: taken */
	} cases[] = {
		{ "", NULL },
		{ "# nobody\n\n", NULL },
		{ "{\"name\":\"a\"," HASH_A "}", NULL },
		{ "{\"name\":\"a\"," HASH_A "}\n{\"name\":\"b\"," HASH_B "}\n", NULL },
		{ "{\"name\":\"a\"," HASH_A "}\n{\"name\":\"a\"," HASH_B "}\n",
		    "line 2: name: used by another line" },
		{ "{\"name\":\"a\"," HASH_A "}\n{\"name\":\"b\"," HASH_A "}\n",
		    "line 2: sha256: used by another line" },
		{ "\n\nnonsense", "line 3: the line" },
		{ "[]", "the line" },
		{ "{\"name\":\"a\",\"name\":\"b\"," HASH_A "}", "each key once" },
		{ "{\"name\":\"a\",\"role\":\"root\"," HASH_A "}", "role: unknown" },
		{ "{" HASH_A "}", "name:" },
		{ "{\"name\":\"\"," HASH_A "}", "name:" },
		{ "{\"name\":\"a b\"," HASH_A "}", "name:" },
		{ "{\"name\":\"" X32 X32 "x\"," HASH_A "}", "name:" },
		{ "{\"name\":7," HASH_A "}", "name: not a string" },
		{ "{\"name\":\"a\"}", "sha256:" },
		{ "{\"name\":\"a\",\"sha256\":\"AAAA\"}", "sha256:" },
		{ "{\"name\":\"a\",\"principal\":\"oauth:x#y\"," HASH_A "}", "oauth:" },
		{ "{\"name\":\"a\",\"principal\":\"a b\"," HASH_A "}", "principal:" },
		{ "{\"name\":\"a\",\"principal\":\"\"," HASH_A "}", "principal:" },
		{ "{\"name\":\"a\",\"principal\":\"" X32 X32 X32 X32 "x\"," HASH_A "}",
		    "principal:" },
		{ "{\"name\":\"a\",\"namespace\":\"" X32 X32 "x\"," HASH_A "}", "namespace:" },
		{ "{\"name\":\"a\",\"scopes\":\"run\"," HASH_A "}", "scopes: not an array" },
		{ "{\"name\":\"a\",\"scopes\":[\"run\",\"root\"]," HASH_A "}", "scopes:" },
		{ "{\"name\":\"a\",\"scopes\":[1]," HASH_A "}", "scopes:" },
		{ "{\"name\":\"a\",\"expires\":\"tomorrow\"," HASH_A "}", "expires:" },
		{ "{\"name\":\"a\",\"expires\":\"2027-01-01T00:00:00+01:00\"," HASH_A "}",
		    "expires:" },
		{ "{\"name\":\"a\",\"expires\":\"1960-01-01\"," HASH_A "}", "expires:" },
		{ "{\"name\":\"a\",\"expires\":1800000000," HASH_A "}", "expires: not a string" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tokens tokens;
		struct err e = { 0 };
		int failed = read_text(cases[i].text, &tokens, &e);

		if ((failed == 0) != (cases[i].why == NULL) ||
		    (failed < 0 && strstr(e.text, cases[i].why) == NULL))
			fail_msg("%s: %s", cases[i].text, failed < 0 ? e.text : "taken");
		if (failed < 0)
			assert_null(tokens.items);
		tokens_clear(&tokens);
	}
}

static void
reads_all_of_a_line(void **state)
{
	struct tokens tokens;
	struct err e;

	(void)state;
	assert_int_equal(
	    read_text("{\"name\":\"ci\",\"principal\":\"team\",\"namespace\":\"blue\",\"scopes\":"
		      "[\"run\",\"cloister:read\"],\"expires\":\"2027-01-31T12:00:00Z\"," HASH_A
		      "}\n{\"name\":\"bare\"," HASH_B "}",
		&tokens, &e),
	    0);

	const struct token *ci = tokens_by_name(&tokens, "ci");
	const struct token *bare = tokens_by_name(&tokens, "bare");

	assert_string_equal(ci->identity.owner.principal, "team");
	assert_string_equal(ci->identity.owner.namespace, "blue");
	assert_int_equal(ci->identity.scopes, 1 << scope_run | 1 << scope_read);
	assert_int_equal(ci->identity.expires_s, 1801396800);
	assert_string_equal(ci->identity.credential, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	assert_string_equal(bare->identity.owner.principal, "token:bare");
	assert_string_equal(bare->identity.owner.namespace, "");
	assert_int_equal(bare->identity.scopes, 0);
	assert_int_equal(bare->identity.expires_s, 0);
	assert_null(tokens_by_name(&tokens, "c"));
	tokens_clear(&tokens);
}

static void
finds_what_it_made(void **state)
{
	struct token token = { .name = "ci", .identity.scopes = SCOPES_USUAL };
	char text[TOKEN_TEXT], other[TOKEN_TEXT];
	struct tokens tokens;
	struct err e;

	(void)state;
	token_make(text);
	token_make(other);
	assert_int_equal(strlen(text), TOKEN_TEXT - 1);
	assert_string_not_equal(text, other);
	token_digest(text, strlen(text), token.digest);
	strcpy(token.identity.owner.principal, "team");

	auto_free char *line = token_line(&token, "2027-01-31");

	assert_int_equal(read_text(line, &tokens, &e), 0);
	assert_null(strstr(line, text));
	assert_ptr_equal(tokens_find(&tokens, text, strlen(text)), tokens.items);
	assert_null(tokens_find(&tokens, other, strlen(other)));
	assert_null(tokens_find(&tokens, text, strlen(text) - 1));
	assert_null(tokens_find(&tokens, "", 0));
	assert_int_equal(tokens.items->identity.scopes, SCOPES_USUAL);
	tokens_clear(&tokens);
}

static void
has_a_limit(void **state)
{
	size_t size = 0, room = (TOKENS_MAX + 1) * 128;
	auto_free char *text = malloc(room);
	struct tokens tokens;
	struct err e;

	(void)state;
	for (unsigned i = 0; i <= TOKENS_MAX; i++)
		size += (size_t)snprintf(
		    text + size, room - size, "{\"name\":\"n%u\",\"sha256\":\"%064x\"}\n", i, i);
	assert_int_equal(read_text(text, &tokens, &e), -1);
	assert_non_null(strstr(e.text, "more than 4096"));
	*strrchr(text, '{') = '#';
	assert_int_equal(read_text(text, &tokens, &e), 0);
	assert_int_equal(tokens.count, TOKENS_MAX);
	tokens_clear(&tokens);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_with_line_and_field),
		cmocka_unit_test(reads_all_of_a_line),
		cmocka_unit_test(finds_what_it_made),
		cmocka_unit_test(has_a_limit),
	};

	return cmocka_run_group_tests_name("tokens", tests, NULL, NULL);
}
