/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.h - a task is promised once its record is on the disk, so that who has its id can ask for
 * it also after the machine has crashed.
 *
 * A disk may take long; threads wait for it (common/work.h) while the loop goes on.
 */
#pragma once

#include "gateway/client.h"
#include "gateway/task/record.h"

/*
 * Answers a request, which is in no batch, with that result, which is taken.  Where the record
 * cannot be kept it is answered by an error, and where nobody waits any more by nothing: in both
 * cases unheard() is called, as nobody knows of the task.
 */
void promise_make(const struct origin *asked, const char owner[RECORD_OWNER],
    const char id[RECORD_ID], json_t *result, void (*unheard)(const char *owner, const char *id));
/* Keeps all that were made; while there are transports. */
void promise_close(void);
