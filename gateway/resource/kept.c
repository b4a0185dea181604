/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - a ring; the texts are those that replies had, by reference, and so cost no copy. */
#include "gateway/resource/kept.h"

#include "gateway/account.h"
#include "gateway/options.h"

#include "common/auto.h"
#include "common/crypto/hash.h"
#include "common/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	SLOTS = 256,
	ID_HEX = 33,
};

struct kept {
	char id[ID_HEX], name[33];
	char *principal, *namespace; /* of malloc; namespace may be NULL */
	json_t *text;                /* NULL: free */
};

static struct kept ring[SLOTS];
static size_t next, held; /* next: where the oldest is; held: bytes of all */

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

static void
make_room(size_t size)
{
	drop(&ring[next]);
	for (size_t i = 1; i < SLOTS && held + size > options.kept_bytes; i++)
		drop(&ring[(next + i) % SLOTS]);
}

int
kept_put(const struct account *who, const char *name, json_t *text, char uri[KEPT_URI_MAX])
{
	size_t size = json_string_length(text);
	struct kept *k = &ring[next];

	if (size > options.kept_bytes)
		return -1;
	make_room(size);
	*k = (struct kept){ .principal = strdup(who->principal),
		.namespace = who->namespace == NULL ? NULL : strdup(who->namespace),
		.text = json_incref(text) };
	must(k->principal != NULL && (who->namespace == NULL || k->namespace != NULL));
	hash_random_hex(k->id, sizeof k->id);
	snprintf(k->name, sizeof k->name, "%s", name);
	held += size;
	next = (next + 1) % SLOTS;
	snprintf(uri, KEPT_URI_MAX, KEPT_URI "%s/%s", k->id, k->name);
	return 0;
}

json_t *
kept_get(const struct account *who, const char *id, const char *name)
{
	for (struct kept *k = ring; k < ring + SLOTS; k++)
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
