/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.c - mounts into the namespace of a box from outside, which its programs cannot undo: they
 * have no capability there, and a namespace of their own gets the mounts locked.
 *
 * Trusts nothing in the workspace: its directory is cloned without following a link, and what is in
 * it is read by guests only.
 */
#include "executor/builder/mounts.h"

#include "common/base/auto.h"
#include "executor/builder/answer.h"
#include "executor/builder/arguments.h"
#include "executor/builder/workspace_table.h"

#include <stdio.h>

/* An order that waits for its box. */
struct mount_wait {
	struct order order;
	struct mount_wait *next;
};

static void
path_of(uint32_t place, char path[32])
{
	if (place == ORDER_USR_LOCAL)
		snprintf(path, 32, "/usr/local");
	else if (place == ORDER_NODE_MODULES)
		snprintf(path, 32, "/node_modules");
	else
		snprintf(path, 32, "/packages/%u", place);
}

static int
mount_now(const struct box *box, const struct order *order, struct err *e)
{
	struct answer answer = { .kind = ANSWER_ENDED, .id = order->id };
	char path[32];

	path_of(order->place, path);
	if (workspace_table_mount(order->workspace, ORDER_MOUNTED, box->spaces[HOST_MNT], path, e) <
	    0)
		return -1;
	answer_send(&answer, NULL, 0);
	return 0;
}

static int
wait_for_box(struct box *box, const struct order *order, struct err *e)
{
	struct mount_wait **last = &box->mounts;
	struct mount_wait *wait = malloc(sizeof *wait);

	if (wait == NULL)
		return err_sys(e, "mount");
	*wait = (struct mount_wait){ .order = *order };
	while (*last != NULL)
		last = &(*last)->next;
	*last = wait;
	return 0;
}

int
mounts_add(struct box *box, const struct order *order, struct err *e)
{
	if (box->process.order.container != 0)
		return err_set(e, ERR_isolation_unavailable, "a container gets no packages");
	if (order->place == ORDER_USR_LOCAL && arguments_show("/usr/local"))
		return err_set(e, ERR_isolation_unavailable,
		    "programs see /usr/local of the host, so no packages can be there");
	return box->process.answer.kind == ANSWER_STARTED ? mount_now(box, order, e)
	                                                  : wait_for_box(box, order, e);
}

void
mounts_settle(struct box *box)
{
	struct mount_wait *next;
	struct err e;

	for (struct mount_wait *wait = take_ptr(box->mounts); wait != NULL; wait = next) {
		next = wait->next;
		if (mount_now(box, &wait->order, &e) < 0)
			answer_refuse(&wait->order, &e);
		free(wait);
	}
}

void
mounts_forget(struct box *box)
{
	struct mount_wait *next;
	struct err e;

	err_set(&e, ERR_unavailable, "the box ended");
	for (struct mount_wait *wait = take_ptr(box->mounts); wait != NULL; wait = next) {
		next = wait->next;
		answer_refuse(&wait->order, &e);
		free(wait);
	}
}
