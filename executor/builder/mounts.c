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
#include "executor/builder/box_trust.h"
#include "executor/builder/user_base.h"
#include "executor/builder/workspace_table.h"

#include <stdio.h>

/* An order that waits for its box. */
struct mount_wait {
	struct order order;
	char *certificate; /* of ORDER_TRUST; owned */
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
mount_on_place(
    struct mounts *mounts, const struct order *order, const char *certificate, struct err *e)
{
	char path[32];

	if (order->kind == ORDER_TRUST)
		return box_trust_mount(mounts->space, certificate, &mounts->trusts, e);
	if (order->place == ORDER_USER_BASE)
		return user_base_mount(mounts->space, mounts->owner, mounts->base_bytes, e);
	path_of(order->place, path);
	return workspace_table_mount(order->workspace, ORDER_MOUNTED, mounts->space, path, e);
}

static int
mount_now(struct mounts *mounts, const struct order *order, const char *certificate, struct err *e)
{
	struct answer answer = { .kind = ANSWER_ENDED, .id = order->id };

	if (mount_on_place(mounts, order, certificate, e) < 0)
		return -1;
	answer_send(&answer, NULL, 0);
	return 0;
}

static int
wait_for_box(struct mounts *mounts, const struct order *order, char **certificate, struct err *e)
{
	struct mount_wait **last = &mounts->waiting;
	struct mount_wait *wait = malloc(sizeof *wait);

	if (wait == NULL)
		return err_sys(e, "mount");
	*wait = (struct mount_wait){ .order = *order, .certificate = take_ptr(*certificate) };
	while (*last != NULL)
		last = &(*last)->next;
	*last = wait;
	return 0;
}

int
mounts_add(struct mounts *mounts, const struct order *order, char *certificate, struct err *e)
{
	auto_free char *owned = certificate;

	return mounts->ready ? mount_now(mounts, order, owned, e)
	                     : wait_for_box(mounts, order, &owned, e);
}

void
mounts_settle(struct mounts *mounts, int space)
{
	struct mount_wait *next;
	struct err e;

	mounts->ready = true;
	mounts->space = space;
	for (struct mount_wait *wait = take_ptr(mounts->waiting); wait != NULL; wait = next) {
		next = wait->next;
		if (mount_now(mounts, &wait->order, wait->certificate, &e) < 0)
			answer_refuse(&wait->order, &e);
		free(wait->certificate);
		free(wait);
	}
}

void
mounts_forget(struct mounts *mounts)
{
	struct mount_wait *next;
	struct err e;

	err_set(&e, ERR_unavailable, "the box ended");
	for (struct mount_wait *wait = take_ptr(mounts->waiting); wait != NULL; wait = next) {
		next = wait->next;
		answer_refuse(&wait->order, &e);
		free(wait->certificate);
		free(wait);
	}
}
