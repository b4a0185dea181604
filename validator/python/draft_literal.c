/* SPDX-License-Identifier: Apache-2.0 */
/* draft_literal.c - true, false and null of JSON and JavaScript, in code that binds no such names.
 */
#include "validator/python/draft.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>

static const struct literal {
	const char *from, *to;
} literals[] = {
#define LITERAL(from, to) { from, to },
#include "validator/fixes.def"
};

_Static_assert(COUNT(literals) == DRAFT_LITERALS, "a bit for each row");

const char *
draft_literal(size_t i, const char **to)
{
	*to = literals[i].to;
	return literals[i].from;
}

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Not an attribute, nor the name of an argument. */
static bool
stands_alone(const char *text, const char *at, const char *end)
{
	const char *before = at;

	while (before > text && before[-1] == ' ')
		before--;
	while (*end == ' ')
		end++;
	return (before == text || before[-1] != '.') && (*end != '=' || end[1] == '=');
}

static const struct literal *
literal_at(const char *at, size_t size, unsigned which)
{
	for (size_t i = 0; i < COUNT(literals); i++)
		if ((which & 1U << i) != 0 && strlen(literals[i].from) == size &&
		    memcmp(literals[i].from, at, size) == 0)
			return &literals[i];
	return NULL;
}

bool
draft_literals(const struct source *source, unsigned which, struct draft *to, struct report *report)
{
	struct scan scan = { 0 };
	size_t changed = 0, first = 0, line = 1;

	for (const char *at = source->text, *end = at + source->size; at < end;) {
		size_t size = 0;

		while (scan.quote == 0 && at + size < end && is_name(at[size]))
			size++;
		const struct literal *found = literal_at(at, size, which);
		if (found != NULL && !stands_alone(source->text, at, at + size))
			found = NULL;
		if (found != NULL && changed++ == 0)
			first = line;
		if (size == 0)
			size = draft_step(&scan, at);
		draft_add(
		    to, found != NULL ? found->to : at, found != NULL ? strlen(found->to) : size);
		line += *at == '\n';
		at += size;
	}
	if (changed > 0)
		report_edit(report, "literal", first, "wrote %zu literals as Python does", changed);
	return changed > 0;
}
