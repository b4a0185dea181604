/* SPDX-License-Identifier: Apache-2.0 */
/* string.c - the keywords for strings. */
#include "validator/schema/format.h"
#include "validator/schema/run.h"

#include "common/codec/base64.h"

#include "common/base/auto.h"

#include <string.h>

static size_t
characters(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static bool
check_length(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct string_rule *rule = node->string;
	size_t size = value->count;
	bool ok = true;

	/* A character has one to four bytes. */
	if (size <= rule->max && size >= 4 * rule->min)
		return true;
	size_t n = characters(value->text, size);
	if (n < rule->min)
		ok = run_fail(run, node, KEYWORD_min_length, place, value,
		    "a string of at least %zu characters; this one has %zu", rule->min, n);
	if (n > rule->max)
		ok = run_fail(run, node, KEYWORD_max_length, place, value,
		    "a string of at most %zu characters; this one has %zu", rule->max, n);
	return ok;
}

static bool
check_pattern(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	int got = regex_match(node->string->regex, value->text, value->count, run->e);

	if (got > 0)
		return true;
	if (got == 0)
		return run_fail(run, node, KEYWORD_pattern, place, value,
		    "a string that matches the pattern %s",
		    json_string_value(node->string->pattern));
	err_add(run->e, "pattern %.80s", json_string_value(node->string->pattern));
	return run_stop(run);
}

/* Draft 7: the decoded content must be of that type, as far as both are known. */
static bool
content_fits(const struct string_rule *rule, const char *text, size_t size)
{
	auto_free char *decoded = NULL;

	if (rule->content_coding != NULL && strcmp(rule->content_coding, "base64") == 0) {
		decoded = malloc(base64_most(size) + 1);
		must(decoded != NULL);
		if (base64_read(decoded, &size, text, size) < 0)
			return false;
		text = decoded;
	}
	if (rule->content_type == NULL || strcmp(rule->content_type, "application/json") != 0)
		return true;
	json_t *value = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	json_decref(value);
	return value != NULL;
}

static bool
check_content(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct string_rule *rule = node->string;

	if (content_fits(rule, value->text, value->count))
		return true;
	return run_fail(run, node,
	    rule->content_type != NULL ? KEYWORD_content_type : KEYWORD_content_coding, place,
	    value, "a string that contains %s%s%s",
	    rule->content_type != NULL ? rule->content_type : "data",
	    rule->content_coding != NULL ? " in " : "",
	    rule->content_coding != NULL ? rule->content_coding : "");
}

bool
string_check(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct string_rule *rule = node->string;
	bool ok = check_length(run, node, value, place);

	if (rule->regex != NULL && (ok || run->problems != NULL))
		ok &= check_pattern(run, node, value, place);
	if (rule->format != NULL && !rule->format->check(value->text, value->count))
		ok = run_fail(run, node, KEYWORD_format, place, value,
		    "a string of the format %s, for example %s", rule->format->name,
		    rule->format->example);
	if (rule->content_type != NULL || rule->content_coding != NULL)
		ok &= check_content(run, node, value, place);
	return ok;
}
