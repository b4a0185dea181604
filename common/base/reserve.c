/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve.c - reservations that are held, and a queue of those that wait, in order of arrival.
 *
 * A waiting owner that already holds its share is skipped, so it delays only itself. An owner below
 * its share is never skipped: the next free bytes are kept for it.
 */
#include "common/base/reserve.h"

#include "common/base/loop.h"

static struct reservation *held, *waiting;
static size_t held_bytes;
static uint64_t timer;

/* Is there room in the share of its owner? */
static bool
is_in_share(const struct reservation *r)
{
	size_t sum = r->bytes;

	for (const struct reservation *other = held; other != NULL; other = other->next)
		if (owner_equal(other->owner, r->owner))
			sum += other->bytes;
	return sum <= RESERVE_EACH;
}

static void
remove_from(struct reservation **at, struct reservation *r)
{
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
}

static void
hold(struct reservation *r)
{
	r->state = RESERVE_HELD;
	r->next = held;
	held = r;
	held_bytes += r->bytes;
}

/* The first in the queue that may continue; NULL: none. */
static struct reservation *
find_next(void)
{
	struct reservation *r = waiting;

	while (r != NULL && !is_in_share(r))
		r = r->next;
	return r != NULL && held_bytes + r->bytes <= RESERVE_ALL ? r : NULL;
}

static void
grant(void *unused)
{
	(void)unused;
	timer = 0;
	for (struct reservation *r; (r = find_next()) != NULL;) {
		remove_from(&waiting, r);
		hold(r);
		r->granted(r);
	}
}

bool
reserve_take(struct reservation *r)
{
	struct reservation **last = &waiting;

	if (r->bytes > RESERVE_EACH)
		r->bytes = RESERVE_EACH;
	while (*last != NULL)
		last = &(*last)->next;
	r->next = NULL;
	*last = r;
	r->state = RESERVE_WAITS;
	if (find_next() != r)
		return false;
	remove_from(&waiting, r);
	hold(r);
	return true;
}

bool
reserve_try(struct reservation *r)
{
	if (r->bytes > RESERVE_EACH)
		r->bytes = RESERVE_EACH;
	if (!is_in_share(r) || held_bytes + r->bytes > RESERVE_ALL)
		return false;
	hold(r);
	return true;
}

/* granted() is called from the loop, not while another request ends. */
void
reserve_release(struct reservation *r)
{
	if (r->state == RESERVE_NONE)
		return;
	if (r->state == RESERVE_HELD)
		held_bytes -= r->bytes;
	remove_from(r->state == RESERVE_HELD ? &held : &waiting, r);
	r->state = RESERVE_NONE;
	if (waiting != NULL && timer == 0)
		timer = loop_after(0, grant, NULL);
}
