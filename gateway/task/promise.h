/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - what is said of a task is on the disk first: a task is promised once its record is
 * there, and its end is told of once that is, so that both are so after the machine has crashed.
 *
 * A disk may take long; threads wait for it (common/base/work.h) while the loop goes on.
 */
#pragma once

#include "gateway/task/record.h"
#include "gateway/transport/client.h"

/*
 * Answers a request, which is in no batch, with that result, which is taken.  Where the record
 * cannot be kept it is answered by an error, and where nobody waits any more by nothing: in both
 * cases unheard() is called, as nobody knows of the task.
 */
void promise_make(const struct origin *asked, const char owner[RECORD_OWNER],
    const char id[RECORD_ID], json_t *result, void (*unheard)(const char *owner, const char *id));
/* Keeps the end of a task, which stays the caller's; then calls done(), maybe at once. */
void promise_keep(const char owner[RECORD_OWNER], const char id[RECORD_ID], const json_t *end,
    void (*done)(void *self, bool kept), void *self);
/* Waits for all of it; while there are transports. */
void promise_close(void);
