/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - a daemon is a constant struct; daemon_main() is the only start-up code. */
#pragma once

#include "common/bus/bus.h"
#include "common/jail/jail.h"
#include "common/table/settings.h"

struct daemon {
	enum peer self;
	const char *summary;            /* for --help; NULL: the doc of peers.def */
	const struct setting *settings; /* its own: its options.def; NULL: none */
	const struct route *routes;     /* ends with MSG_none; NULL: serves nobody */
	const int *syscalls;            /* beside common/jail/syscalls.def; ends with -1 */
	const int *refused;             /* see struct jail; may be NULL */
	uint64_t memory_bytes;          /* RLIMIT_AS; 0: none */
	bool stateless;                 /* even where peers.def gives its peer a directory */
	int (*open)(struct err *);  /* outside the jail: paths, children, warm-up; may be NULL */
	int (*start)(struct err *); /* inside it, loop and bus are there; may be NULL */
	void (*stop)(void);         /* after the last call has ended; may be NULL */
	void (*load)(struct heartbeat *);                        /* NULL: counts open calls */
	void (*replies)(const struct call *, const void *reply); /* see bus.h; NULL: nobody looks */
	/* Where it is asked to end, called again and again until drain_ms have passed: what is
	 * under way beside calls of the bus; NULL: nothing. */
	size_t (*drain)(void);
};

/*
 * log, settings, signals, umask, close_range, open(), bus_prepare(), jail_enter(), bus_start(),
 * start(), loop until a signal of loop_ends() comes, drain for at most drain_ms, stop().  0: ended
 * as asked; 1: could not start, said on stderr; 2: settings.
 */
int daemon_main(int argc, char **argv, const struct daemon *);

/* For open() and later: common settings and what daemon_main made of them. */
const char *daemon_run(void); /* folder of endpoints */
const char *daemon_instance(void);
const char *daemon_state_root(void); /* the setting `state`, below which all daemons have theirs */
int daemon_state(void); /* descriptor of <state>/<daemon>, or -1; open for reading, writing below it
                           is allowed */
/* open() may ask for a path to be kept reachable in the jail; the descriptor must live on. */
void daemon_allow(int fd, unsigned jail_access);
/* In a process that open() has made: a jail as this daemon's, with no group, no path, none of the
 * daemon's own system calls, and no socket but what it has. */
int daemon_confine(struct err *);
/* open() may ask for room for more descriptors than a daemon needs otherwise. */
void daemon_files(uint64_t more);
/*
 * In start() and later, for a shared daemon: opens the spool of its folder, where it is not open;
 * any other daemon that auditd serves has its own open before start().  -1: there is no folder, or
 * another of its kind has the spool, and may leave it.
 */
int daemon_spool(struct err *);
/* Ends the loop as if SIGTERM had come; status 1 and a log line if why is not NULL. */
void daemon_end(const char *why);
