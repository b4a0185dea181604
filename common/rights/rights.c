/* SPDX-License-Identifier: Apache-2.0 */
/* rights.c - which policy is for a caller, and what it allows; names come from clients. */
#include "common/rights/rights.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <string.h>

void
rights_clear(struct rights_book *book)
{
	for (struct rights *r = book->items; r < book->items + book->count; r++) {
#define NAMES(name, where, doc) texts_clear(&r->name.names);
#define AMOUNT(...)
#include "common/rights/rights.def"
	}
	free(book->items);
	*book = (struct rights_book){ 0 };
}

static bool
covers(const char *pattern, const char *text)
{
	return pattern[0] == '\0' || strcmp(pattern, text) == 0;
}

const struct rights *
rights_find(const struct rights_book *book, const struct owner *owner)
{
	for (const struct rights *r = book->items; r < book->items + book->count; r++)
		if (covers(r->owner.principal, owner->principal) &&
		    covers(r->owner.namespace, owner->namespace))
			return r;
	return NULL;
}

/* ---- checks ---- */

/* "a*" covers what begins with a, "*.b" what ends with .b. */
static bool
matches(const char *entry, const char *name)
{
	size_t size = strlen(entry), length = strlen(name);

	if (size > 1 && entry[0] == '*')
		return length >= size && strcmp(name + length - (size - 1), entry + 1) == 0;
	if (size > 0 && entry[size - 1] == '*')
		return strncmp(entry, name, size - 1) == 0;
	return strcmp(entry, name) == 0;
}

bool
rights_allow(const struct rights_list *list, const char *name)
{
	if (!list->given)
		return true;
	for (size_t i = 0; i < list->names.count; i++)
		if (matches(list->names.items[i], name))
			return true;
	return false;
}

static void
join(const struct texts *names, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < names->count && used < room; i++)
		used += (size_t)snprintf(
		    text + used, room - used, "%s%s", i > 0 ? ", " : "", names->items[i]);
	if (names->count == 0)
		snprintf(text, room, "none");
}

int
rights_check(const struct rights *rights, const struct rights_list *list, const char *field,
    const char *name, struct err *e)
{
	char allowed[256];

	if (rights == NULL || name == NULL || rights_allow(list, name))
		return 0;
	join(&list->names, allowed, sizeof allowed);
	return err_set(e, ERR_denied, "%s: '%.64s' is not allowed by policy %s, which allows %s",
	    field, name, rights->name, allowed);
}

int
rights_check_all(const struct rights *rights, const struct rights_list *list, const char *field,
    const struct texts *names, struct err *e)
{
	for (size_t i = 0; i < names->count; i++)
		if (rights_check(rights, list, field, names->items[i], e) < 0)
			return -1;
	return 0;
}

uint64_t
rights_number(const struct rights *rights, const struct rights_number *number, uint64_t setting)
{
	return rights != NULL && number->given ? number->value : setting;
}

/* ---- for people ---- */

static void
print_list(const char *name, const struct rights_list *list, FILE *to)
{
	char text[4096];

	if (!list->given)
		return;
	join(&list->names, text, sizeof text);
	fprintf(to, "  %s: %s\n", name, text);
}

static void
print_number(const char *name, const struct rights_number *number, FILE *to)
{
	if (number->given)
		fprintf(to, "  %s: %" PRIu64 "\n", name, number->value);
}

void
rights_print(const struct rights *r, FILE *to)
{
	fprintf(to, "%s, for %s%s%s%s\n", r->name,
	    r->owner.principal[0] == '\0' && r->owner.namespace[0] == '\0' ? "everybody" : "",
	    r->owner.principal, r->owner.namespace[0] != '\0' ? " in namespace " : "",
	    r->owner.namespace);
#define NAMES(name, where, doc)             print_list(#name, &r->name, to);
#define AMOUNT(name, where, low, high, doc) print_number(#name, &r->name, to);
#include "common/rights/rights.def"
}
