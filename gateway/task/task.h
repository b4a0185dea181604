/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - the extension io.modelcontextprotocol/tasks: a call whose answer is fetched later.
 *
 * The executor that runs the program owns the task.  The task's id names that executor, so that
 * any gateway can query or cancel it, and may restart in between.  The gateway keeps no state of a
 * task.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

struct provider;
struct request;

/* The tasks of executors. */
extern const struct provider task_provider;
/* The refusal for an id that is no task of the caller. */
json_t *task_absent(const struct request *);

/*
 * Asks the executor to make a task of the request with the number that bus_ask() returned.  done:
 * result is a CreateTaskResult, which is taken, and the request gets no other reply.  result NULL:
 * there is no room for a task, or the request has ended, and the request continues unchanged.
 * Returns NULL if nothing was sent; then done is not called.
 */
struct task_keeping;
struct task_keeping *task_keep(
    const struct account *, uint64_t request, void (*done)(void *self, json_t *result), void *self);
/* The caller no longer waits for the task: a task that was made is cancelled.  done is not
 * called. */
void task_leave(struct task_keeping *);

/* Queries the state of that account's task.  told() is called with what tasks/get would return;
 * it is not called if there is no such task. */
void task_look(const struct account *, const char *id,
    void (*told)(const struct account *, const char *id, const json_t *task));

/*
 * Takes ids, an array, and removes those that are not tasks of the account: neither known() nor
 * an executor has them.  Then calls then() with a copy of the request, unless the request was
 * cancelled, and answers the request with the value that it returns.  Returns the answer, or NULL:
 * it is pending.
 */
json_t *task_filter(const struct request *, json_t *ids,
    bool (*known)(const struct account *, const char *id),
    json_t *(*then)(const struct request *, json_t *ids));

/* {"extensions": {...}}: the capability that a client must declare. */
json_t *task_capability(void);
