/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - the extension io.modelcontextprotocol/tasks: a call whose answer is fetched later.
 *
 * A task is the executor's that runs the program; its id names that executor, so that any gateway
 * can ask for it, cancel it, or be restarted meanwhile.  Nothing of it is kept here.  Tasks of
 * fixtures (mcp/extra.h) are the fixtures' own.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

struct request;

/*
 * Asks the executor that has a request, by the number that bus_ask() returned, to make a task of
 * it.  done: result is a CreateTaskResult, which is taken, and no reply to the request comes any
 * more; NULL: there is no room for a task, or the request has ended, and it goes on as it is.
 * NULL: nothing was asked, done is not called.
 */
struct task_keeping;
struct task_keeping *task_keep(
    const struct account *, uint64_t request, void (*done)(void *self, json_t *result), void *self);
/* Nobody waits for the task: if there is one, it is cancelled.  done is not called. */
void task_leave(struct task_keeping *);

/* Asks how far the task of that account is; told() is called with what tasks/get would return, and
 * not at all where there is none. */
void task_look(const struct account *, const char *id,
    void (*told)(const struct account *, const char *id, const json_t *task));

/*
 * Leaves the ids, an array that is taken, of tasks of the account only.  Then calls then(), unless
 * the request was cancelled, with a copy of the request, and answers it with what that returns.
 * The answer, or NULL: it is pending.
 */
json_t *task_filter(
    const struct request *, json_t *ids, json_t *(*then)(const struct request *, json_t *ids));

/* {"extensions": {...}}: what a client has to declare. */
json_t *task_capability(void);
