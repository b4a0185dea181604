/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_roots.c - the builder's directories.  Trusts the host's files. */
#include "executor/builder/limits/cgroup_roots.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_directory.h"

#include <fcntl.h>
#include <time.h>

enum {
	CLEAR_TRIES = 50, /* of 10 ms */
};

int
cgroup_roots_add(struct cgroup_roots *roots, unsigned root, int *above)
{
	int ours = cgroup_directory_open(*above, roots->name, &roots->taken);

	if (ours < 0)
		return -1;
	roots->above[root] = take_fd(above);
	roots->ours[root] = ours;
	return 0;
}

void
cgroup_roots_remove(struct cgroup_roots *roots, unsigned root)
{
	if (roots->ours[root] < 0)
		return;
	/* Done while the lock is held: afterwards the directory may belong to another builder. */
	unlinkat(roots->above[root], roots->name, AT_REMOVEDIR);
	close(take_fd(&roots->ours[root]));
	close(take_fd(&roots->above[root]));
}

void
cgroup_roots_remove_all(struct cgroup_roots *roots)
{
	for (unsigned i = 0; i < CGROUP_ROOTS; i++)
		cgroup_roots_remove(roots, i);
}

bool
cgroup_roots_clear(const struct cgroup_roots *roots)
{
	bool gone = true;

	for (unsigned i = 0; i < CGROUP_ROOTS; i++)
		if (roots->ours[i] >= 0)
			gone &= cgroup_directory_clear(roots->ours[i]);
	return gone;
}

/* Processes that a killed builder left die with it, but not always at once.  A process that
 * stays alive was not left by it. */
bool
cgroup_roots_await_clear(const struct cgroup_roots *roots)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (int i = 0; i < CLEAR_TRIES; i++) {
		if (cgroup_roots_clear(roots))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}
