/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - what changed, for the gateways whose clients listen.
 *
 * The last changes are numbered and kept in memory, bounded in number.  A gateway asks for those
 * after the last one that it knows (await_changes), and is answered when there are any; a gateway
 * that asks too late is told that it missed some.  So a slow gateway costs no memory here.
 *
 * What changes is seen where it is announced: in the events that auditd gets, and in the replies of
 * tools that are no READ_ONLY ones, whose fields name sessions, snapshots and files.
 */
#pragma once

#include "common/bus/bus.h"

/* In start(). */
void change_open(void);
/* Something of the caller's changed; id NULL: none. */
void change_add(const char *principal, const char *namespace, enum subject, const char *id);
void change_of_event(const char *principal, const char *namespace, const struct audit_event *);
void change_of_reply(const struct call *, const void *reply);
/* The executor ends: whoever waits is answered. */
void change_close(void);

int change_on_await_changes(struct call *, void *request, struct err *);
