/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_retire.c - retries to remove a box's cgroup, because the kernel may still count a dead
 * process in it for a moment.
 */
#include "executor/builder/limits/cgroup.h"

#include "common/base/log.h"
#include "common/base/loop.h"

#include <stdlib.h>
#include <time.h>

enum {
	TRIES = 200,
	PAUSE_MS = 10,
};

static void
try_again(void *self)
{
	struct cgroup *group = self;

	if (!cgroup_remove(group)) {
		if (group->tries++ < TRIES) {
			loop_after(PAUSE_MS, try_again, group);
			return;
		}
		log_error("a cgroup of a box cannot be removed", LOG_N("number", group->number));
	}
	free(group);
}

void
cgroup_retire(const struct cgroup *group)
{
	struct cgroup *copy = malloc(sizeof *copy);

	must(copy != NULL);
	*copy = *group;
	try_again(copy);
}

void
cgroup_end(struct cgroup *group)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000 };

	while (!cgroup_remove(group) && group->tries++ < TRIES)
		nanosleep(&pause, NULL);
}
