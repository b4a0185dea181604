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

UNPLAYED(confine_enter)
UNPLAYED(cgroup_open_doors)
UNPLAYED(cgroup_settle)
UNPLAYED(code_file_await)
UNPLAYED(environment_make)
UNPLAYED(runtimes_check)
UNPLAYED(runtimes_command)
UNPLAYED(runtimes_python)
UNPLAYED(runtimes_variable)
UNPLAYED(box_of)
UNPLAYED(box_join)
UNPLAYED(process_new)
UNPLAYED(process_free)
UNPLAYED(process_fail)
UNPLAYED(process_tell_started)
UNPLAYED(processes_find)
