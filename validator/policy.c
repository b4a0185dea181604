/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - which profiles a call asked for, and whether they allow a module.
 *
 * Trusts the tables only: profile and module names are a client's and a program's.
 */
#include "validator/policy.h"

#include "common/auto.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
enum profile {
#define PROFILE(name, ...) PROFILE_##name,
#include "validator/profiles.def"
	PROFILE_COUNT
};

#define LIST(name) (1u << PROFILE_##name)
#define HAS(power) POWER_##power
#define ALL        ~0u

static const struct profile_row {
	const char *name;
	unsigned lists, powers;
} profiles[PROFILE_COUNT] = {
#define PROFILE(name, lists, powers, doc) [PROFILE_##name] = { #name, lists, powers },
#include "validator/profiles.def"
};

static const struct {
	unsigned list;
	const char *name;
} modules[] = {
#define MODULE(list, name) { LIST(list), name },
#include "validator/profiles.def"
};
/* clang-format on */

/* "strict, basic, ..." */
static void
list_profiles(char *text, size_t size)
{
	size_t used = 0;

	for (size_t n = 0; n < PROFILE_COUNT && used < size; n++)
		used += (size_t)snprintf(
		    text + used, size - used, "%s%s", n == 0 ? "" : ", ", profiles[n].name);
}

static int
add_profile(struct policy *policy, const char *name, size_t size, struct err *e)
{
	char known[128];

	for (const struct profile_row *row = profiles; row < profiles + PROFILE_COUNT; row++) {
		if (strlen(row->name) != size || memcmp(row->name, name, size) != 0)
			continue;
		unsigned bit = 1u << (row - profiles);
		if ((policy->profiles & bit) != 0)
			return 0;
		policy->profiles |= bit;
		policy->lists |= row->lists;
		policy->powers |= row->powers & POWER_all;
		size_t used = strlen(policy->title);
		snprintf(policy->title + used, sizeof policy->title - used, "%s%s",
		    used == 0 ? "" : ", ", row->name);
		return 0;
	}
	list_profiles(known, sizeof known);
	return err_set(e, ERR_invalid_argument, "profile: there is no \"%.*s\"; known are %s",
	    (int)(size < 48 ? size : 48), name, known);
}

int
policy_read(const char *profile, const struct texts *only, struct policy *policy, struct err *e)
{
	const char *from = profile != NULL ? profile : "strict";

	/* An empty list is one: no imports at all. */
	*policy = (struct policy){ .only = only != NULL && only->items != NULL ? only : NULL };
	for (;;) {
		from += strspn(from, " ");
		size_t size = strcspn(from, ","), end = size;
		while (end > 0 && from[end - 1] == ' ')
			end--;
		if (add_profile(policy, from, end, e) != 0)
			return -1;
		if (from[size] == '\0')
			break;
		from += size + 1;
	}
	if ((policy->profiles & LIST(open)) != 0 && policy->profiles != LIST(open))
		return err_set(e, ERR_invalid_argument,
		    "profile: open has no rules and cannot be joined with others");
	return 0;
}

/* Is name the entry or below it?  "os.path.join" is within "os.path", "os.pathx" is not. */
static bool
within(const char *name, const char *entry)
{
	size_t size = strlen(entry);

	return strncmp(name, entry, size) == 0 && (name[size] == '\0' || name[size] == '.');
}

static bool
listed(unsigned lists, const char *dotted)
{
	if (lists == ALL)
		return true;
	for (size_t n = 0; n < COUNT(modules); n++)
		if ((modules[n].list & lists) != 0 && within(dotted, modules[n].name))
			return true;
	return false;
}

bool
policy_profile_module(const struct policy *policy, const char *dotted)
{
	return listed(policy->lists, dotted);
}

bool
policy_module(const struct policy *policy, const char *dotted)
{
	if (!listed(policy->lists, dotted))
		return false;
	if (policy->only == NULL)
		return true;
	for (size_t n = 0; n < policy->only->count; n++)
		if (within(dotted, policy->only->items[n]))
			return true;
	return false;
}

bool
policy_leads(const struct policy *policy, const char *dotted)
{
	for (size_t n = 0; policy->lists != ALL && n < COUNT(modules); n++)
		if (within(modules[n].name, dotted) && policy_module(policy, modules[n].name))
			return true;
	for (size_t n = 0; policy->only != NULL && n < policy->only->count; n++)
		if (within(policy->only->items[n], dotted) &&
		    policy_module(policy, policy->only->items[n]))
			return true;
	return false;
}

const char *
policy_suggest(const char *dotted)
{
	for (const struct profile_row *row = profiles; row < profiles + PROFILE_COUNT; row++)
		if (row->lists != ALL && listed(row->lists, dotted))
			return row->name;
	return NULL;
}

bool
policy_has(const struct policy *policy, enum power power)
{
	return (policy->powers & power) != 0;
}
