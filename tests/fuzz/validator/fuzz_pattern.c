/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_pattern.c - any text as a pattern of a schema, before a zero byte, and a text behind it.
 *
 * A group around a pattern changes no verdict, so no pattern leaves its place in the translation.
 * A text matches its own characters, quoted, and nothing longer.
 */
#include "validator/schema/regex.h"

#include "common/base/auto.h"
#include "common/base/err.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATTERN = 512, MAX_TEXT = 256, NONE = -2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 1, 0; -1: too many steps; NONE: it is no pattern. */
static int
match(const char *pattern, size_t length, const char *text, size_t size)
{
	struct err e = { 0 };
	struct regex *regex = regex_new(pattern, length, &e);
	int got;

	if (regex == NULL) {
		must(e.code == ERR_schema_invalid && e.text[0] != '\0');
		return NONE;
	}
	got = regex_match(regex, text, size, &e);
	must(got >= 0 || e.code == ERR_limit_exceeded);
	regex_free(regex);
	return got;
}

static void
check_group(const char *pattern, size_t length, const char *text, size_t size)
{
	char around[MAX_PATTERN + 8];
	int n = snprintf(around, sizeof around, "(?:%s)", pattern);
	int alone = match(pattern, length, text, size), grouped;

	if (alone == NONE || strlen(pattern) != length)
		return;
	grouped = match(around, (size_t)n, text, size);
	/* A few more steps, or one more level, can be over a limit. */
	must(grouped == alone || alone == -1 || grouped < 0);
}

/* Each character as \u{...}, so that nothing of it has a meaning. */
static size_t
quote(const char *text, size_t size, char *to)
{
	size_t at = (size_t)sprintf(to, "^(?:");

	for (size_t i = 0; i < size; i++)
		at += (size_t)sprintf(to + at,
		    isalnum((unsigned char)text[i]) || (unsigned char)text[i] >= 0x80 ? "%c"
										      : "\\u{%x}",
		    (unsigned char)text[i]);
	return at + (size_t)sprintf(to + at, ")$");
}

static void
check_quoted(const char *text, size_t size)
{
	char pattern[MAX_TEXT * 6 + 16], longer[MAX_TEXT + 2];
	size_t length = quote(text, size, pattern);

	memcpy(longer, text, size);
	longer[size] = '\n';
	must(match(pattern, length, text, size) == 1);
	must(match(pattern, length, longer, size + 1) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
	size_t length = zero != NULL ? (size_t)(zero - data) : size;
	const char *text = zero != NULL ? (const char *)zero + 1 : "";
	size_t rest = zero != NULL ? size - length - 1 : 0;
	char pattern[MAX_PATTERN + 1];

	/* As in any JSON. */
	if (length > MAX_PATTERN || rest > MAX_TEXT || !utf8_valid((const char *)data, length) ||
	    !utf8_valid(text, rest))
		return 0;
	memcpy(pattern, data, length);
	pattern[length] = '\0';
	check_group(pattern, length, text, rest);
	check_quoted(text, rest);
	return 0;
}
