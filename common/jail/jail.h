/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jail.h - what a daemon gives up before it reads a byte from outside, and proof that it did.
 *
 * Order: one thread only; bounding set, which needs a capability to empty; groups, gid, uid, tried
 * to regain and read back; all other capabilities; no_new_privs; not dumpable; Landlock; rlimits;
 * seccomp last, which is inherited by every ZeroMQ thread made later.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum jail_access {
	JAIL_READ = 1,  /* read files and folders below */
	JAIL_WRITE = 2, /* make, write, rename, remove files and folders below */
	JAIL_BIND = 4,  /* make and remove sockets in it */
};

struct jail_path {
	int fd; /* O_PATH or ordinary, of a file or folder; stays the caller's */
	unsigned access;
};

struct jail {
	uid_t uid; /* of the daemon; the process's own where it is not root */
	gid_t gid;
	const gid_t *groups; /* edges it is a client of */
	size_t ngroups;
	const struct jail_path *paths; /* Landlock: nothing else of the file system */
	size_t npaths;
	bool tcp_connect, tcp_bind; /* otherwise Landlock and seccomp refuse both */
	bool confined;              /* without a bus: no BUS rows of syscalls.def, no socket(2) */
	bool files;                 /* has paths to write: FILES rows of syscalls.def */
	const int *syscalls;        /* beside the common list; ends with -1 */
	const int *refused;    /* answered with ENOENT instead of death; ends with -1; or NULL */
	uint64_t memory_bytes; /* RLIMIT_AS, 0: none */
	uint64_t open_files;   /* RLIMIT_NOFILE */
};

/* Layers that are truly in force, read back from the kernel. */
struct jail_report {
	bool uid, capabilities, no_new_privs, landlock, seccomp;
};

int jail_enter(const struct jail *, struct jail_report *, struct err *);
