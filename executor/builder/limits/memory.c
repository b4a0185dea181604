/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - reads the limits of cgroups.  Trusts the host's files.  A control file that cannot
 * be read, or that contains no number ("max"), means no limit. */
#include "executor/builder/limits/memory.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"
#include "executor/builder/limits/cgroup_use.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t
memory_least(char *path, int root, const char *knob, uint64_t most)
{
	for (;;) {
		char name[CGROUP_PATH + 32];

		snprintf(name, sizeof name, "%s/%s", path, knob);
		auto_fd int fd = open(name, O_RDONLY | O_CLOEXEC);
		uint64_t limit = cgroup_use_number(fd, NULL);

		if (limit > 0 && limit < most)
			most = limit;
		if ((int)strlen(path) <= root)
			return most;
		*strrchr(path, '/') = '\0'; /* a mount point begins with a slash */
	}
}

uint64_t
memory_most(void)
{
	static const struct {
		const char *controller, *knob;
	} hierarchies[] = { { NULL, "memory.max" }, { "memory", "memory.limit_in_bytes" } };
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	char path[CGROUP_PATH];
	int root;

	for (size_t i = 0; i < COUNT(hierarchies); i++)
		if (cgroup_find(hierarchies[i].controller, path, &root) == 0)
			most = memory_least(path, root, hierarchies[i].knob, most);
	return most;
}
