/* SPDX-License-Identifier: Apache-2.0 */
/* zygotes.h - the builder's zygotes: started when one is first asked for, and again if it dies. */
#pragma once

#include "executor/builder/life.h"

enum {
	ZYGOTES_DOCK =
	    ORDER_MAX_ZYGOTES + 1, /* the number of oci/dock.h, which is asked in the same way */
};

/* One more, from the command line: its interpreter, and modules as zygote.py takes them. */
int zygotes_add(const char *python, const char *modules, struct err *);
void zygotes_open(const struct host *, const struct filter *);
/* It is there and stays, or ends for good. */
void zygotes_set_dock(pid_t, int sock);
bool zygotes_have(uint32_t number);
/*
 * Has it fork the program, whose descriptors are in life->fds: program_born() comes, then
 * program_reaped().  -1: it cannot be had now, and nobody will come.
 */
int zygotes_ask(struct life *program);
/* A child of that zygote has ended: one that does not tell how is not waited for without end. */
void zygotes_expect(uint32_t number);
/* For the end; they are waited for by who calls this. */
void zygotes_kill(void);
