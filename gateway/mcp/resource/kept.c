/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - a table; the texts are those that replies had, by reference, and so cost no copy. */
#include "gateway/mcp/resource/kept.h"

#include "gateway/options.h"
#include "gateway/transport/account.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	SLOTS = 256,
	ID_HEX = 33,
};

struct kept {
	uint64_t number; /* the oldest has the least */
	char id[ID_HEX], name[33];
	char *principal, *namespace; /* of malloc; namespace may be NULL */
	json_t *text;                /* NULL: free */
};

static struct kept table[SLOTS];
static size_t held; /* bytes of all */
static uint64_t last;

static void
drop(struct kept *k)
{
	if (k->text == NULL)
		return;
	held -= json_string_length(k->text);
	json_decref(k->text);
	free(k->principal);
	free(k->namespace);
	*k = (struct kept){ .text = NULL };
}

/* Of that principal, or of all. */
static struct kept *
oldest(const struct account *who)
{
	struct kept *found = NULL;

	for (struct kept *k = table; k < table + SLOTS; k++)
		if (k->text != NULL && (found == NULL || k->number < found->number) &&
		    (who == NULL || account_is(who, k->principal, k->namespace)))
			found = k;
	return found;
}

/* Would it have more than half of what is kept? */
static bool
has_most(const struct account *who, size_t size)
{
	size_t count = 1;

	for (const struct kept *k = table; k < table + SLOTS; k++)
		if (k->text != NULL && account_is(who, k->principal, k->namespace)) {
			size += json_string_length(k->text);
			count++;
		}
	return count > 1 && (size > options.kept_bytes / 2 || count > SLOTS / 2);
}

/* A free one.  Who has half of it all loses texts of their own, and no other's. */
static struct kept *
make_room(const struct account *who, size_t size)
{
	for (;;) {
		struct kept *k = table;

		while (k < table + SLOTS && k->text != NULL)
			k++;
		if (k < table + SLOTS && held + size <= options.kept_bytes)
			return k;
		drop(oldest(has_most(who, size) ? who : NULL));
	}
}

int
kept_put(const struct account *who, const char *name, json_t *text, char uri[KEPT_URI_MAX])
{
	size_t size = json_string_length(text);

	if (size > options.kept_bytes)
		return -1;

	struct kept *k = make_room(who, size);

	*k = (struct kept){ .number = ++last,
		.principal = strdup(who->principal),
		.namespace = who->namespace == NULL ? NULL : strdup(who->namespace),
		.text = json_incref(text) };
	must(k->principal != NULL && (who->namespace == NULL || k->namespace != NULL));
	hash_random_hex(k->id, sizeof k->id);
	snprintf(k->name, sizeof k->name, "%s", name);
	held += size;
	snprintf(uri, KEPT_URI_MAX, KEPT_URI "%s/%s", k->id, k->name);
	return 0;
}

json_t *
kept_get(const struct account *who, const char *id, const char *name)
{
	for (struct kept *k = table; k < table + SLOTS; k++)
		if (k->text != NULL && strcmp(k->id, id) == 0 && strcmp(k->name, name) == 0)
			return account_is(who, k->principal, k->namespace) ? json_incref(k->text)
			                                                   : NULL;
	return NULL;
}

json_t *
kept_piece(const json_t *text, size_t offset)
{
	const char *bytes = json_string_value(text);
	size_t size = json_string_length(text), from = offset < size ? offset : size;
	size_t to = size - from > KEPT_PIECE ? from + KEPT_PIECE : size;

	/* Both ends go forward, so that pieces in a row have every character once. */
	while (utf8_inside(bytes, from, size))
		from++;
	while (utf8_inside(bytes, to, size))
		to++;
	return json_stringn_nocheck(bytes + from, to - from);
}
