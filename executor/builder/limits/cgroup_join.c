/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_join.c - joins the cgroups in the new process.  Trusts its descriptors. */
#include "executor/builder/limits/cgroup.h"

#include <unistd.h>

int
cgroup_join(const struct cgroup *g, struct err *e)
{
	for (size_t i = 0; i < g->njoin; i++)
		if (write(g->join[i], "0", 1) < 0)
			return err_sys(e, "write cgroup.procs");
	return 0;
}
