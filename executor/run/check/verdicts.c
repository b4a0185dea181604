/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.c - a table with linear search: 40 KiB, a few microseconds against the half millisecond
 * that a hit saves.
 *
 * Trusts SHA-256: two programs with the same hash would share a verdict.
 */
#include "executor/run/check/verdicts.h"

#include "executor/options.h"

#include "common/base/loop.h"

#include <string.h>

static struct passed {
	uint8_t key[HASH_BYTES];
	uint8_t whose[HASH_BYTES]; /* hash of the principal alone */
	int64_t until_ms;          /* end of validity, or 0: free */
	uint64_t used;             /* higher: used more recently */
} table[VERDICTS];

static uint64_t uses;
static uint64_t lost; /* number of lost validators when these entries were added */

/* ---- keys ---- */

static void
add_number(struct hash *h, uint64_t number)
{
	hash_add(h, &number, sizeof number);
}

/* The length precedes the text, so that different lists never give the same bytes. */
static void
add_text(struct hash *h, const char *text)
{
	size_t size = strlen(text);

	add_number(h, size);
	hash_add(h, text, size);
}

/* No list allows all imports; an empty list allows none. */
static void
add_imports(struct hash *h, const struct texts *imports)
{
	if (imports->items == NULL) {
		add_number(h, UINT64_MAX);
		return;
	}
	add_number(h, imports->count);
	for (size_t i = 0; i < imports->count; i++)
		add_text(h, imports->items[i]);
}

static void
make_key(const struct owner *owner, const struct plan *plan, uint8_t key[HASH_BYTES])
{
	struct hash h;

	hash_begin(&h);
	add_text(&h, owner->principal);
	add_text(&h, owner->namespace);
	add_number(&h, plan->language);
	add_number(&h, plan->policy.typed);
	add_text(&h, plan->policy.profile);
	add_imports(&h, &plan->policy.imports);
	add_text(&h, plan->digest);
	hash_end(&h, key);
}

static void
hash_principal(const char *principal, uint8_t whose[HASH_BYTES])
{
	struct hash h;

	hash_begin(&h);
	add_text(&h, principal);
	hash_end(&h, whose);
}

/* ---- the table ---- */

static void
forget_after_loss(void)
{
	uint64_t now = bus_counts()->lost[PEER_validator];

	if (now == lost)
		return;
	memset(table, 0, sizeof table);
	lost = now;
}

static struct passed *
find(const uint8_t key[HASH_BYTES])
{
	int64_t now = loop_now_ms();

	for (struct passed *p = table; p < table + VERDICTS; p++)
		if (p->until_ms > now && memcmp(p->key, key, HASH_BYTES) == 0)
			return p;
	return NULL;
}

static struct passed *
make_room(const uint8_t whose[HASH_BYTES])
{
	struct passed *oldest = table, *own = NULL;
	int64_t now = loop_now_ms();
	size_t owned = 0;

	for (struct passed *p = table; p < table + VERDICTS; p++) {
		if (p->until_ms <= now)
			return p;
		if (p->used < oldest->used)
			oldest = p;
		if (memcmp(p->whose, whose, HASH_BYTES) != 0)
			continue;
		owned++;
		if (own == NULL || p->used < own->used)
			own = p;
	}
	return owned < VERDICTS_EACH ? oldest : own;
}

bool
verdicts_has(const struct owner *owner, const struct plan *plan)
{
	uint8_t key[HASH_BYTES];

	if (options.verdict_seconds == 0)
		return false;
	forget_after_loss();
	make_key(owner, plan, key);

	struct passed *p = find(key);

	if (p == NULL)
		return false;
	p->used = ++uses;
	return true;
}

void
verdicts_keep(const struct owner *owner, const struct plan *plan)
{
	struct passed new = {
		.until_ms = loop_now_ms() + (int64_t)options.verdict_seconds * 1000,
		.used = ++uses,
	};

	forget_after_loss();
	make_key(owner, plan, new.key);
	hash_principal(owner->principal, new.whose);
	/* Two simultaneous calls may both have asked.  Then there are two entries until the
	 * older is removed. */
	*make_room(new.whose) = new;
}
