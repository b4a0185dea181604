/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_mount.c - has the builder mount packages in a box, and certificates of a run.
 *
 * Trusts the builder, which answers once for each request.
 */
#include "executor/sandbox/box.h"
#include "executor/sandbox/place.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <fcntl.h>
#include <string.h>

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
		log_error("a program lacks its packages, or a certificate", LOG_E(why));
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

/* The read end of a pipe that has the text, and no writer. */
static int
pipe_of(const char *text, struct err *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "pipe");

	int r = fdio_write(ends[1], text, strlen(text), e);

	close(ends[1]);
	if (r == 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

int
box_trust(struct box *box, const char *certificate, void (*done)(void *self, const struct err *),
    void *self, struct err *e)
{
	static const struct builder_request_events events = { .ended = on_ended };
	struct order order = { .kind = ORDER_TRUST };
	struct mounting *mounting;

	if (box->builder_request == NULL)
		return err_set(e, ERR_unavailable, "the box has ended");
	auto_fd int text = pipe_of(certificate, e);

	if (text < 0 || (mounting = malloc(sizeof *mounting)) == NULL)
		return text < 0 ? -1 : err_sys(e, "certificate");
	*mounting = (struct mounting){ .open = 1, .done = done, .self = self };
	order.box = builder_request_id(box->builder_request);
	if (builder_request_start(&order, &text, 1, &events, mounting, e) != NULL)
		return 0;
	free(mounting);
	return -1;
}
