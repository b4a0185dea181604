/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starter.h - the process that started this one, systemd or `cloister`: what is inherited from it,
 * and status and stored descriptors by the protocol of sd_notify(3).
 *
 * A starter that stores descriptors sets FDSTORE and passes them to the next process of this daemon
 * as LISTEN_FDS. It is not an error if there is no such starter.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

enum {
	STARTER_MAX_KEPT = 4,
};

/* Variables with values for the vault only. */
#define STARTER_SECRETS "SANDBOXMCP_SECRET_"

/*
 * Call first. Opens descriptors 0 to 2 on /dev/null if they are closed; otherwise the next file
 * would become one of them. Unblocks all signals. Resets ignored signals, except those that
 * nohup(1) and a shell's & ignore: a process that ignores SIGCHLD cannot get the exit status of its
 * children.  All threads will share one heap.
 */
void starter_settle(void);
/* Removes these variables, and overwrites their values, which /proc/PID/environ would show. */
void starter_forget_secrets(void);
/* Call before descriptors are closed. Takes the inherited descriptors; returns their number, from 3
 * on. */
unsigned starter_inherit(void);
/* Call before the jail, which does not permit it. */
void starter_connect(void);
void starter_tell(const char *text);
bool starter_listens(void);

/* Does the starter store descriptors? */
bool starter_keeps(void);
/* The descriptor that an earlier process of this daemon stored under that name; the caller owns it.
 * -1: none. */
int starter_kept(const char *name);
/* Stores a copy until starter_drop(). */
int starter_keep(const char *name, int fd, struct err *);
int starter_drop(const char *name, struct err *);
