/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - the caller's own events as they become durable, oldest first.
 *
 * The log is the queue: a follower names the last event that it has, and gets what came after it.
 * So one that is slow or away delays nobody and misses nothing.
 */
#pragma once

#include "common/bus/bus.h"

/* Handler of follow_events. */
int follow_events(struct call *, void *request, struct err *);
/* Handler of audit_all: the same for an operator, who sees the events of all principals. */
int follow_all(struct call *, void *request, struct err *);
/* More records are durable. */
void follow_wake(void);
/* Answers all followers, as if their time had passed. */
void follow_close(void);
