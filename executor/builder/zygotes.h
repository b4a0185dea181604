/* SPDX-License-Identifier: Apache-2.0 */
/* zygotes.h - the builder's zygotes.  Each is started at its first use, and again if it dies. */
#pragma once

#include "executor/builder/program.h"

enum {
	ZYGOTES_LAUNCHER = ORDER_MAX_ZYGOTES +
	                   1, /* the OCI launcher (oci/launcher.h), which takes the same requests */
};

/* Forks programs: of a box with containers by the launcher. */
extern const struct program_forker zygotes_forker;

/* Adds a zygote from the command line: its interpreter, and its modules in the format of
 * zygote.py. */
int zygotes_add(const char *python, const char *modules, struct err *);
void zygotes_open(const struct host *, const struct filter *);
/* Adds the OCI launcher, which is not restarted. */
void zygotes_set_launcher(pid_t, int sock);
bool zygotes_have(uint32_t number);
/* At shutdown: kills all zygotes.  The caller waits for them. */
void zygotes_kill(void);
