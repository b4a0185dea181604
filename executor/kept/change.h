/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - the list of changes for gateways whose clients listen for them.
 *
 * The last changes are numbered and kept in memory, bounded in number.  A gateway requests the
 * changes after the last one that it knows (await_changes); the reply comes when there are any.  A
 * gateway that asks too late gets a reply which says that it missed some.  So a slow gateway costs
 * no memory here.
 *
 * Changes are detected where they are announced: in the events for auditd, and in the replies of
 * tools without READ_ONLY, whose fields name sessions, snapshots and files.
 */
#pragma once

#include "common/bus/bus.h"

/* In start(). */
void change_open(void);
/* Records a change of something that this owner has; id NULL: none. */
void change_add(const struct owner *, enum subject, const char *id);
void change_of_event(const struct owner *, const struct audit_event *);
void change_of_reply(const struct call *, const void *reply);
/* The executor ends: answers all waiting requests. */
void change_close(void);

int change_on_await_changes(struct call *, void *request, struct err *);
