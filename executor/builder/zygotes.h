/* SPDX-License-Identifier: Apache-2.0 */
/* zygotes.h - the builder's zygotes: started when one is first asked for, and again if it dies. */
#pragma once

#include "executor/builder/life.h"

enum {
	ZYGOTES_LAUNCHER = ORDER_MAX_ZYGOTES +
	                   1, /* the OCI launcher (oci/launcher.h), which takes the same requests */
};

/* Adds a zygote from the command line: its interpreter, and modules as zygote.py takes them. */
int zygotes_add(const char *python, const char *modules, struct err *);
void zygotes_open(const struct host *, const struct filter *);
/* Adds the OCI launcher, which is not restarted. */
void zygotes_set_launcher(pid_t, int sock);
bool zygotes_have(uint32_t number);
/*
 * Asks the zygote to fork the program, whose descriptors are in life->fds: program_born() is
 * called, then program_reaped().  -1: the zygote is not available, and neither is called.
 */
int zygotes_ask(struct life *program);
/* A child of that zygote has ended: bounds the wait for the zygote's report of its status. */
void zygotes_expect(uint32_t number);
/* At the end: kills all zygotes; the caller waits for them. */
void zygotes_kill(void);
