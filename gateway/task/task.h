/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - the extension io.modelcontextprotocol/tasks: a call whose answer is fetched later.
 *
 * Who runs a task has a client of it, which stands for whoever asked: what is answered to that
 * client becomes the end of the task.  A task can be told and asked for by its principal only,
 * through any gateway that shares the state folder; its end is told once it is on the disk, and
 * kept until its time is over, also when gateway or machine are started anew.  One whose gateway
 * ended while it ran has failed.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/base/err.h"

struct task;
struct request;

/* Before the jail, with the folder of the state; -1: there is none, and so no task. */
void task_open(int state);
/* When the gateway ends, while there is a bus: what runs is cancelled, and has failed. */
void task_close(void);
/* After it, while there are transports: whoever waits for task_promise() is answered. */
void task_stop(void);

/*
 * A new task of that account.  *to is where its answer belongs (id: the caller's reference): as an
 * origin of client_begin(), or of client_answer(), which ends it.  NULL: there is no room, or no
 * folder; the call goes on as it is.
 */
struct task *task_new(const struct account *, const struct origin *asked, struct origin *to);
/* Answers whoever asked, by the CreateTaskResult of the client of a task, once the task is on the
 * disk: the request is pending until then, and is in no batch.  May end the task. */
void task_promise(struct client *, const struct origin *asked);

/*
 * Asks whoever has the task for something while it runs; params are taken, and key is new to the
 * task.  got() is called with each response that comes by tasks/update, an object, and not after
 * the task's end.
 */
void task_ask(struct client *, const char *key, const char *method, json_t *params,
    void (*got)(void *self, const char *key, const json_t *response), void *self);

/* told() is called with what tasks/get would return for a task, each time that this changes. */
void task_watch(void (*told)(const struct account *, const char *id, const json_t *task));

/* Is there one, of that account? */
bool task_exists(const struct account *, const char *id);
/* {"extensions": {...}}: what a client has to declare. */
json_t *task_capability(void);
