/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - profiles.def as tables, and sets of profiles. */
#include "common/profile/profile.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define LIST(name) (1u << PROFILE_##name)
#define HAS(power) POWER_##power
#define ALL        ~0u

static const struct profile_row {
	const char *name;
	unsigned lists, powers, most;
	const char *doc;
} profiles[PROFILE_COUNT] = {
#define PROFILE(name, lists, powers, most, doc) [PROFILE_##name] = { #name, lists, powers, most, doc },
#include "common/profile/profiles.def"
};

static const struct {
	unsigned list;
	const char *name;
} modules[] = {
#define MODULE(list, name) { LIST(list), name },
#include "common/profile/profiles.def"
};
/* clang-format on */

const char *
profile_name(enum profile profile)
{
	return profiles[profile].name;
}

const char *
profile_doc(enum profile profile)
{
	return profiles[profile].doc;
}

/* "strict, basic, ..." */
static void
list_names(char *text, size_t size)
{
	size_t used = 0;

	for (size_t n = 0; n < PROFILE_COUNT && used < size; n++)
		used += (size_t)snprintf(
		    text + used, size - used, "%s%s", n == 0 ? "" : ", ", profiles[n].name);
}

static int
add_profile(struct profile_set *set, const char *name, size_t size, struct err *e)
{
	char known[128];

	for (const struct profile_row *row = profiles; row < profiles + PROFILE_COUNT; row++) {
		if (strlen(row->name) != size || memcmp(row->name, name, size) != 0)
			continue;
		unsigned bit = 1u << (row - profiles);
		if ((set->profiles & bit) != 0)
			return 0;
		set->profiles |= bit;
		set->lists |= row->lists;
		set->powers |= row->powers & POWER_all;
		size_t used = strlen(set->title);
		snprintf(set->title + used, sizeof set->title - used, "%s%s", used == 0 ? "" : ", ",
		    row->name);
		return 0;
	}
	list_names(known, sizeof known);
	return err_set(e, ERR_invalid_argument, "profile: unknown profile \"%.*s\"; known: %s",
	    (int)(size < 48 ? size : 48), name, known);
}

int
profile_read(const char *names, struct profile_set *set, struct err *e)
{
	*set = (struct profile_set){ 0 };
	for (const char *from = names;; from++) {
		from += strspn(from, " ");
		size_t size = strcspn(from, ","), end = size;
		while (end > 0 && from[end - 1] == ' ')
			end--;
		if (add_profile(set, from, end, e) != 0)
			return -1;
		from += size;
		if (*from == '\0')
			break;
	}
	if ((set->profiles & LIST(open)) != 0 && set->profiles != LIST(open))
		return err_set(e, ERR_invalid_argument,
		    "profile: open has no rules and cannot be joined with others");
	for (const struct profile_row *row = profiles; row < profiles + PROFILE_COUNT; row++)
		if ((set->profiles & 1u << (row - profiles)) != 0)
			set->powers &= row->most;
	return 0;
}

bool
profile_is_open(const struct profile_set *set)
{
	return set->lists == ALL;
}

bool
profile_has(const struct profile_set *set, enum power power)
{
	return (set->powers & power) != 0;
}

bool
profile_within(const char *dotted, const char *entry)
{
	size_t size = strlen(entry);

	return strncmp(dotted, entry, size) == 0 && (dotted[size] == '\0' || dotted[size] == '.');
}

static bool
listed(unsigned lists, const char *dotted)
{
	if (lists == ALL)
		return true;
	for (size_t n = 0; n < COUNT(modules); n++)
		if ((modules[n].list & lists) != 0 && profile_within(dotted, modules[n].name))
			return true;
	return false;
}

static bool
within_any(const struct texts *only, const char *dotted)
{
	if (only == NULL)
		return true;
	for (size_t n = 0; n < only->count; n++)
		if (profile_within(dotted, only->items[n]))
			return true;
	return false;
}

bool
profile_module(const struct profile_set *set, const struct texts *only, const char *dotted)
{
	return listed(set->lists, dotted) && within_any(only, dotted);
}

bool
profile_leads(const struct profile_set *set, const struct texts *only, const char *dotted)
{
	for (size_t n = 0; set->lists != ALL && n < COUNT(modules); n++)
		if (profile_within(modules[n].name, dotted) &&
		    profile_module(set, only, modules[n].name))
			return true;
	for (size_t n = 0; only != NULL && n < only->count; n++)
		if (profile_within(only->items[n], dotted) &&
		    profile_module(set, only, only->items[n]))
			return true;
	return false;
}

const char *
profile_suggest(const char *dotted)
{
	for (const struct profile_row *row = profiles; row < profiles + PROFILE_COUNT; row++)
		if (row->lists != ALL && listed(row->lists, dotted))
			return row->name;
	return NULL;
}

int
profile_modules(
    const struct profile_set *set, const struct texts *only, struct texts *names, struct err *e)
{
	/* If an entry of the profile and one of `only` overlap, such as urllib and urllib.parse,
	 * the narrower one is permitted. */
	for (size_t n = 0; set->lists != ALL && n < COUNT(modules); n++)
		if ((modules[n].list & set->lists) != 0 && within_any(only, modules[n].name) &&
		    texts_add(names, modules[n].name) < 0)
			return err_sys(e, "modules");
	for (size_t n = 0; only != NULL && n < only->count; n++)
		if (listed(set->lists, only->items[n]) && texts_add(names, only->items[n]) < 0)
			return err_sys(e, "modules");
	return 0;
}
