/* SPDX-License-Identifier: Apache-2.0 */
/* processes.h - the table of the processes that the executor ordered, by the ids that it chose. */
#pragma once

#include <stdint.h>

struct process;

/* NULL: there is none with that id. */
struct process *processes_find(uint32_t id);
/* Returns the process with the next higher id, and writes that id.  NULL: there is none.  Begin
 * with 0.  Processes may be removed meanwhile. */
struct process *processes_next(uint32_t *id);
/* NULL: removes it. */
void processes_set(uint32_t id, struct process *);
