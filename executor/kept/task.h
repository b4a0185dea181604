/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - requests whose reply is fetched later, through any gateway.
 *
 * A gateway turns a request that is being processed into a task (keep_task).  From then on the
 * executor owns the request: it continues if the gateway dies, and its outcome is on the disk
 * before anybody can read it.  The id names the executor, so that every gateway knows which one to
 * ask.  A task belongs to its principal in its namespace; for all others it does not exist.  If
 * the executor ends while a task runs, the task has failed.
 */
#pragma once

#include "common/bus/bus.h"

/* Before the jail, with the state directory; -1: there is none, and no task can be made. */
void task_open(int state);
/* The executor ends: running tasks have failed. */
void task_close(void);

int task_on_keep_task(struct call *, void *request, struct err *);
int task_on_get_task(struct call *, void *request, struct err *);
int task_on_cancel_task(struct call *, void *request, struct err *);
