/* SPDX-License-Identifier: Apache-2.0 */
/* program_rest.c - stubs of the functions that program.c calls to start a program, for the test
 * of program ends. */
#include <stdlib.h>

#define UNPLAYED(name) \
	void name(void); \
	void name(void) \
	{ \
		abort(); \
	}

UNPLAYED(zygotes_add)
UNPLAYED(zygotes_open)
UNPLAYED(zygotes_set_launcher)
UNPLAYED(zygotes_have)
UNPLAYED(zygotes_ask)
UNPLAYED(launcher_add)
UNPLAYED(launcher_is_below)
UNPLAYED(slot_set_state)
UNPLAYED(launcher_open)
UNPLAYED(host_space)
UNPLAYED(filter_make)
UNPLAYED(confine_enter)
UNPLAYED(cgroup_limits_by)
UNPLAYED(cgroup_shares_processors)
UNPLAYED(cgroup_open_doors)
UNPLAYED(cgroup_settle)
UNPLAYED(census_memory)
UNPLAYED(census_cpu_us)
UNPLAYED(trial_await)
UNPLAYED(code_file_await)
UNPLAYED(environment_make)
UNPLAYED(life_fail)
