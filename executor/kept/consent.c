/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consent.c - a list for each owner, some 3 KB, freed with the last use that has not expired.
 *
 * Trusts the gateway's statement about a seal: it opened under the key that gateways share.
 */
#include "executor/kept/consent.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum {
	ID = 32, /* digits */
};

struct use {
	char id[ID];
	int64_t until_ms;
};

struct spender {
	struct spender *next;
	struct owner owner;
	int64_t void_ms; /* consents that expire no later than this are void */
	size_t count;
	struct use uses[CONSENT_USES];
};

static struct spender *spenders;
static size_t count;

static int64_t since_ms; /* uses before this time are unknown */

static int64_t
clock_ms(void)
{
	struct timespec now = timestamp_now();

	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
consent_open(void)
{
	since_ms = clock_ms();
}

static void
expire(struct spender *o, int64_t now_ms)
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
	for (struct spender **at = &spenders; *at != NULL;) {
		struct spender *o = *at;

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

/* NULL: there is none, and no room for a new one. */
static struct spender *
spender_of(const struct owner *owner)
{
	struct spender *o = spenders;

	while (o != NULL && !owner_equal(&o->owner, owner))
		o = o->next;
	if (o != NULL || count >= CONSENT_OWNERS)
		return o;
	o = calloc(1, sizeof *o);
	if (o == NULL)
		return NULL;
	o->owner = *owner;
	o->next = spenders;
	spenders = o;
	count++;
	return o;
}

static bool
was_used(const struct spender *o, const char *id)
{
	for (size_t i = 0; i < o->count; i++)
		if (memcmp(o->uses[i].id, id, ID) == 0)
			return true;
	return false;
}

/* Removes the use that expires first, and voids all consents that expire no later. */
static void
give_up_one(struct spender *o)
{
	size_t first = 0;

	for (size_t i = 1; i < o->count; i++)
		if (o->uses[i].until_ms < o->uses[first].until_ms)
			first = i;
	if (o->uses[first].until_ms > o->void_ms)
		o->void_ms = o->uses[first].until_ms;
	o->uses[first] = o->uses[--o->count];
}

static int
check(const struct spender *o, const struct spend_consent *s, struct err *e)
{
	if (o == NULL)
		return err_set(e, ERR_queue_full,
		    "it was not used, because too many principals have recently used consents; try "
		    "again in some minutes");
	if (was_used(o, s->id))
		return err_set(
		    e, ERR_invalid_argument, "it was used before; call again without it");
	if ((int64_t)s->made_ms < since_ms)
		return err_set(e, ERR_invalid_argument,
		    "it was made before the executor started, so it may have been used; call "
		    "again without it");
	if ((int64_t)s->until_ms <= o->void_ms)
		return err_set(e, ERR_invalid_argument,
		    "it is older than the %d most recently used; call again without it",
		    CONSENT_USES);
	return 0;
}

static void
note(struct spender *o, const char *id, int64_t until_ms)
{
	if (o->count == CONSENT_USES)
		give_up_one(o);
	if (until_ms <= o->void_ms)
		return; /* it is void from now on and needs no place in the list */
	o->uses[o->count] = (struct use){ .until_ms = until_ms };
	memcpy(o->uses[o->count++].id, id, ID);
}

int
consent_on_spend_consent(struct call *call, void *request, struct err *e)
{
	const struct spend_consent *ask = request;
	struct nothing done = { .ok = true };
	struct spender *o;

	sweep(clock_ms());
	o = spender_of(&call->owner);
	if (check(o, ask, e) < 0)
		return -1;
	note(o, ask->id, (int64_t)ask->until_ms);
	call_reply(call, &done);
	return 0;
}
