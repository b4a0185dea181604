/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - the table of scopes, and the scopes that a tool needs. */
#include "common/credential/scope.h"

#include "common/base/auto.h"
#include "common/base/err.h"

static const char prefix[] = "cloister:";

static const struct {
	const char *name;
	unsigned toolsets, hints;
} scopes[SCOPE_COUNT] = {
#define SCOPE(name, toolsets, hints, doc) { #name, toolsets, hints },
#include "common/credential/scopes.def"
};

unsigned
scope_of_tool(enum msg_id tool)
{
	const struct message *m = &messages[tool];

	for (unsigned i = 0; i < SCOPE_COUNT; i++)
		if ((m->toolsets & scopes[i].toolsets) != 0 &&
		    (m->hints & scopes[i].hints) == scopes[i].hints)
			return 1U << i;
	return SCOPES_ALL; /* not covered by any row */
}

void
scope_text(unsigned set, char text[SCOPES_TEXT])
{
	char *at = text;

	*at = '\0';
	for (unsigned i = 0; i < SCOPE_COUNT; i++) {
		if ((set & 1U << i) == 0)
			continue;
		if (at > text)
			at = stpcpy(at, " ");
		at = stpcpy(stpcpy(at, prefix), scopes[i].name);
	}
	must(at < text + SCOPES_TEXT);
}

unsigned
scope_parse(const char *name, size_t size)
{
	const size_t skip = sizeof prefix - 1;

	if (size > skip && memcmp(name, prefix, skip) == 0) {
		name += skip;
		size -= skip;
	}
	for (unsigned i = 0; i < SCOPE_COUNT; i++)
		if (strlen(scopes[i].name) == size && memcmp(scopes[i].name, name, size) == 0)
			return 1U << i;
	return 0;
}

unsigned
scope_parse_all(const char *names)
{
	unsigned set = 0;

	for (const char *at = names; *at != '\0';) {
		size_t size = strcspn(at, " ");

		if (size > sizeof prefix - 1 && strncmp(at, prefix, sizeof prefix - 1) == 0)
			set |= scope_parse(at, size);
		at += size + strspn(at + size, " ");
	}
	return set;
}
