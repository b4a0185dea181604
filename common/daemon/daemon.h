/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - a daemon is a constant struct; daemon_main() is the only start-up code. */
#pragma once

#include "common/daemon/description.h"
#include "common/jail/jail.h"

/*
 * log, settings, signals, umask, close_range, open(), bus_prepare(), jail_enter(), bus_start(),
 * start(), loop until a signal of loop_ends() comes, drain for at most drain_ms, stop(). Exit
 * status: 0 after a signal; 1: could not start, reason on stderr; 2: wrong settings.
 */
int daemon_main(int argc, char **argv, const struct daemon *);

/* For open() and later: common settings, as resolved by daemon_main. */
const char *daemon_run(void); /* directory of endpoints */
const char *daemon_instance(void);
const char *daemon_state_root(
    void);              /* the setting `state`, which contains the directories of all daemons */
int daemon_state(void); /* descriptor of <state>/<daemon>, or -1; open for reading, writing below it
                           is allowed */
/* Called by open(): keeps a path accessible in the jail. The descriptor must stay open. */
void daemon_allow(int fd, unsigned jail_access);
/* Called in a process that open() forked. Enters a jail like this daemon's, but without groups,
 * paths and new sockets, and with these system calls instead of the daemon's own; they end with -1.
 * NULL: none. */
int daemon_confine(const int *syscalls, struct err *);
/* Called by open(): raises the limit of open files by `more`. */
void daemon_files(uint64_t more);
/*
 * For daemons with shared state, in start() and later: opens the spool in the state directory
 * unless it is open. Any other client of auditd has its spool open before start(). -1: no state
 * directory, or another process of this daemon has the spool; a later call may succeed.
 */
int daemon_spool(struct err *);
/* Ends the loop as if SIGTERM had come; status 1 and a log line if why is not NULL. */
void daemon_end(const char *why);
