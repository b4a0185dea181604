/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - who wants to hear of changes, and telling them.
 *
 * In 2026-07-28 subscriptions/listen is a request that stays open (basic/patterns/subscriptions);
 * in earlier revisions resources/subscribe holds for a session, and changes of lists are told to
 * every session.  A change is only ever told to the principal whose it is.
 */
#pragma once

#include "gateway/transport/client.h"

#include <stdbool.h>

enum {
	LISTEN_TOOLS = 1,
	LISTEN_PROMPTS = 2,
	LISTEN_RESOURCES = 4,
};

/* begun() is called each time that a client begins to listen. */
void listen_open(void (*begun)(void));

/* Those lists changed for that principal; NULL: for everybody. */
void listen_changed(const struct account *, unsigned lists);
/* The resource changed; below: and whatever is below it. */
void listen_updated(const struct account *, const char *uri, bool below);
/* What tasks/get would say of the task now. */
void listen_task(const struct account *, const char *task_id, const json_t *task);
/* Does any client of that principal listen for the task? */
bool listen_hears_task(const struct account *, const char *task_id);
/* Changes were missed: all clients are told that what they listen for has changed. */
void listen_missed(void);
/* Nobody listens. */
bool listen_is_idle(void);

/* The session of an earlier revision begins: from now on it hears of lists, until it is closed. */
void listen_welcome(struct client *);
