/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spent.c - lists by owner, some 3 KB each, freed with the last that has not expired.
 *
 * Owners are those whom the transport authenticated; what they spend opened under our key.
 */
#include "gateway/mcp/spent.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	WHO = crypto_generichash_BYTES_MIN,
};

struct use {
	unsigned char id[SPENT_ID];
	int64_t until_ms;
};

struct owner {
	struct owner *next;
	unsigned char who[WHO];
	int64_t void_ms; /* what expires until then is void */
	size_t count;
	struct use uses[SPENT_USES];
};

static struct owner *owners;
static size_t count;

static void
name(const struct spending *s, unsigned char who[WHO])
{
	const char *namespace = s->namespace != NULL ? s->namespace : "";
	crypto_generichash_state h;

	/* Each text with its end, so that none runs into the other. */
	crypto_generichash_init(&h, NULL, 0, WHO);
	crypto_generichash_update(
	    &h, (const unsigned char *)s->principal, strlen(s->principal) + 1);
	crypto_generichash_update(&h, (const unsigned char *)namespace, strlen(namespace) + 1);
	crypto_generichash_final(&h, who, WHO);
}

static void
expire(struct owner *o, int64_t now_ms)
{
	size_t left = 0;

	for (size_t i = 0; i < o->count; i++)
		if (o->uses[i].until_ms >= now_ms)
			o->uses[left++] = o->uses[i];
	o->count = left;
}

static void
sweep(int64_t now_ms)
{
	for (struct owner **at = &owners; *at != NULL;) {
		struct owner *o = *at;

		expire(o, now_ms);
		if (o->count > 0 || o->void_ms >= now_ms) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		count--;
		free(o);
	}
}

/* NULL: none, and there is no room for one more. */
static struct owner *
owner_of(const struct spending *s)
{
	unsigned char who[WHO];
	struct owner *o = owners;

	name(s, who);
	while (o != NULL && memcmp(o->who, who, WHO) != 0)
		o = o->next;
	if (o != NULL || count >= SPENT_OWNERS)
		return o;
	o = calloc(1, sizeof *o);
	if (o == NULL)
		return NULL;
	memcpy(o->who, who, WHO);
	o->next = owners;
	owners = o;
	count++;
	return o;
}

static bool
was_used(const struct owner *o, const unsigned char *id)
{
	for (size_t i = 0; i < o->count; i++)
		if (memcmp(o->uses[i].id, id, SPENT_ID) == 0)
			return true;
	return false;
}

/* The one that goes first, with all that expire no later. */
static void
give_up_one(struct owner *o)
{
	size_t first = 0;

	for (size_t i = 1; i < o->count; i++)
		if (o->uses[i].until_ms < o->uses[first].until_ms)
			first = i;
	if (o->uses[first].until_ms > o->void_ms)
		o->void_ms = o->uses[first].until_ms;
	o->uses[first] = o->uses[--o->count];
}

int
spent_note(const struct spending *s, struct err *e)
{
	sweep(s->now_ms);

	struct owner *o = owner_of(s);

	if (o == NULL)
		return err_set(e, ERR_queue_full,
		    "too many principals use some at this time, so that it cannot be noted that "
		    "this one is; it was not used, try again in some minutes");
	if (was_used(o, s->id))
		return err_set(e, ERR_invalid_argument, "it was used before; begin anew");
	if (s->until_ms <= o->void_ms)
		return err_set(e, ERR_invalid_argument,
		    "%d younger ones were used since, more than are told apart; begin anew",
		    SPENT_USES);
	if (o->count == SPENT_USES)
		give_up_one(o);
	if (s->until_ms <= o->void_ms)
		return 0; /* it is void from now on, without a place in the list */
	o->uses[o->count] = (struct use){ .until_ms = s->until_ms };
	memcpy(o->uses[o->count++].id, s->id, SPENT_ID);
	return 0;
}
