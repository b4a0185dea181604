/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starter.h - what a process has of whoever started it, and a word with that, systemd or
 * `cloister`, in the protocol of sd_notify(3): how it does, and descriptors that are to outlive it.
 *
 * A starter that keeps descriptors says so by FDSTORE, and hands them to the next life of this
 * daemon as LISTEN_FDS.  Nobody to be told is no failure.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

enum {
	STARTER_MAX_KEPT = 4,
};

/*
 * First of all: descriptors 0 to 2 are open, on /dev/null where they were not, for else the next
 * file would be one of them; no signal is blocked; and none is ignored but those by which nohup(1)
 * and a shell's & speak, for who ignores SIGCHLD never hears how its children ended.
 */
void starter_settle(void);
/* Before descriptors are closed: takes those that were handed over; how many, from 3 on. */
unsigned starter_inherit(void);
/* Before the jail, which has no way to it. */
void starter_connect(void);
void starter_tell(const char *text);
bool starter_listens(void);

/* May descriptors be kept? */
bool starter_keeps(void);
/* What an earlier life of this daemon had kept under that name, the caller's; -1: nothing. */
int starter_kept(const char *name);
/* Keeps a copy from now on, until starter_drop(). */
int starter_keep(const char *name, int fd, struct err *);
int starter_drop(const char *name, struct err *);
