/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc.c - removes contents that were put and never committed, or that no snapshot needs any more.
 *
 * Runs in the loop only, so that no call can ask for a content between the check and the removal.
 * Runs in slices, so that calls have their turn.
 */
#include "snapshotd/gc.h"

#include "common/base/loop.h"
#include "snapshotd/shelf.h"
#include "snapshotd/store.h"

enum {
	SLICE = 64, /* removals per turn of the loop */
	PAUSE_MS = 60 * 1000,
};

static uint64_t timer;

static void
run(void *self)
{
	int left = SLICE;

	(void)self;
	for (struct shelf *shelf = shelf_first(); shelf != NULL; shelf = shelf->next) {
		struct content *c;

		for (; left > 0 && (c = shelf_expired(shelf)) != NULL; left--) {
			store_remove_content(shelf->owner, c->digest);
			shelf_remove_content(shelf, c);
		}
	}
	timer = loop_after(left > 0 ? PAUSE_MS : 0, run, NULL);
}

void
gc_run(void)
{
	loop_unset(timer);
	timer = loop_after(0, run, NULL);
}

void
gc_stop(void)
{
	loop_unset(timer);
	timer = 0;
}
