/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - requests whose reply is fetched later, through any gateway.
 *
 * A gateway makes a task of a request that is under way (keep_task).  From then on the request is
 * the executor's: it runs on if the gateway dies, and its outcome is on the disk before anybody can
 * read it.  The id names the executor, so that every gateway knows which one to ask.  A task
 * belongs to its principal in its namespace; to anybody else it does not exist.  A task whose
 * executor ended while it ran has failed.
 */
#pragma once

#include "common/bus/bus.h"

/* Before the jail, with the directory of the state; -1: none, then no task is made. */
void task_open(int state);
/* The executor ends: running tasks have failed. */
void task_close(void);

int task_on_keep_task(struct call *, void *request, struct err *);
int task_on_get_task(struct call *, void *request, struct err *);
int task_on_cancel_task(struct call *, void *request, struct err *);
