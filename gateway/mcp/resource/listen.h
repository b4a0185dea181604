/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - subscriptions to changes, and their notifications.
 *
 * In 2026-07-28 subscriptions/listen is a request that stays open (basic/patterns/subscriptions).
 * In earlier revisions resources/subscribe holds for a session, and changes of lists go to every
 * session.  A change is only sent to the principal that owns the object.
 */
#pragma once

#include "gateway/mcp/provider.h"

#include <stdbool.h>

/* begun() is called each time a client begins to listen. */
void listen_open(void (*begun)(void));

/* That list changed for that principal; NULL: for all principals. */
void listen_changed(const struct account *, enum provider_list);
/* The resource changed; below: so did all resources below it. */
void listen_updated(const struct account *, const char *uri, bool below);
/* Sends what tasks/get would return for the task now. */
void listen_task(const struct account *, const char *task_id, const json_t *task);
/* Whether any client of that principal listens for the task. */
bool listen_hears_task(const struct account *, const char *task_id);
/* Changes were missed: notifies all clients that everything they listen for has changed. */
void listen_missed(void);
/* Whether no client listens. */
bool listen_is_idle(void);

/* A session of an earlier revision begins: it receives changes of lists until it is closed. */
void listen_welcome(struct client *);
