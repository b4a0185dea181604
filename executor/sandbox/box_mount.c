/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_mount.c - has the builder mount packages in a box.
 *
 * Trusts the builder, which answers once for each request.
 */
#include "executor/sandbox/place.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

struct mounting {
	size_t open; /* answers that are missing, and one for box_mount() itself */
	struct err first;
	void (*done)(void *self, const struct err *);
	void *self;
};

static void
release(struct mounting *mounting)
{
	const struct err *why = mounting->first.code != ERR_none ? &mounting->first : NULL;

	if (--mounting->open > 0)
		return;
	if (mounting->done != NULL)
		mounting->done(mounting->self, why);
	else if (why != NULL)
		log_error("a program lacks its packages", LOG_E(why));
	free(mounting);
}

static void
on_ended(void *self, const struct answer *answer)
{
	struct mounting *mounting = self;

	if (answer->error.code != ERR_none && mounting->first.code == ERR_none)
		mounting->first = answer->error;
	release(mounting);
}

static void
release_later(void *self)
{
	release(self);
}

static int
order_one(const struct box *box, const struct box_mount *mount, struct mounting *mounting)
{
	static const struct builder_request_events events = { .ended = on_ended };
	struct order order = {
		.kind = ORDER_MOUNT,
		.box = builder_request_id(box->builder_request),
		.workspace = mount->workspace != NULL ? workspace_id(mount->workspace) : 0,
		.place = mount->place,
	};

	if (builder_request_start(&order, NULL, 0, &events, mounting, &mounting->first) == NULL)
		return -1;
	mounting->open++;
	return 0;
}

int
box_mount(struct box *box, const struct box_mounts *mounts,
    void (*done)(void *self, const struct err *), void *self, struct err *e)
{
	struct mounting *mounting;

	if (box->builder_request == NULL)
		return err_set(e, ERR_unavailable, "the box has ended");
	mounting = malloc(sizeof *mounting);
	if (mounting == NULL)
		return err_sys(e, "packages");
	*mounting = (struct mounting){ .open = 1, .done = done, .self = self };
	for (size_t i = 0; i < mounts->count; i++)
		if (order_one(box, &mounts->items[i], mounting) < 0)
			break;
	loop_after(0, release_later, mounting);
	return 0;
}
