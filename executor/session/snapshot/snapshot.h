/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h - handlers for snapshots of a session's workspace, which snapshotd stores. */
#pragma once

#include "executor/session/session.h"

/* take.c, restore.c, show.c, snapshot.c */
int snapshot_take_on_create_state_snapshot(struct call *, void *request, struct err *);
int snapshot_restore_on_restore_state_snapshot(struct call *, void *request, struct err *);
int snapshot_show_on_describe_state_snapshot(struct call *, void *request, struct err *);
int snapshot_on_list_state_snapshots(struct call *, void *request, struct err *);
int snapshot_on_delete_state_snapshot(struct call *, void *request, struct err *);

/* Sends the request to snapshotd in the name of the call, which its reply or error ends.  Takes the
 * request's blobs. */
int snapshot_pass_on(struct call *, enum msg_id message, void *request, struct err *);
