/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - an array of processes.  Trusts ids that order_check() passed. */
#include "executor/builder/processes.h"

#include "executor/builder/order.h"

static struct process *all[ORDER_MAX_LIVING + 1];

struct process *
processes_find(uint32_t id)
{
	return id >= 1 && id <= ORDER_MAX_LIVING ? all[id] : NULL;
}

struct process *
processes_next(uint32_t *id)
{
	while (*id < ORDER_MAX_LIVING)
		if (all[++*id] != NULL)
			return all[*id];
	return NULL;
}

void
processes_set(uint32_t id, struct process *process)
{
	all[id] = process;
}
