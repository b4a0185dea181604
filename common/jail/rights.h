/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - what a process may do in its jail. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum jail_access {
	JAIL_READ = 1,  /* read files and directories below */
	JAIL_WRITE = 2, /* make, write, rename, remove files and directories below */
	JAIL_BIND = 4,  /* make and remove sockets in it */
};

struct jail_path {
	int fd; /* O_PATH or ordinary, of a file or directory; owned by the caller */
	unsigned access;
};

struct jail {
	uid_t uid; /* of the daemon; that of the process if it is not root */
	gid_t gid;
	const gid_t *groups; /* groups of the edges of which it is the client */
	size_t ngroups;
	const struct jail_path *paths; /* the only paths that Landlock permits */
	size_t npaths;
	bool tcp_connect, tcp_bind; /* otherwise Landlock and seccomp refuse both */
	bool outside;               /* TCP to other machines, and UDP */
	bool confined;              /* without a bus: no BUS rows of syscalls.def, no socket(2) */
	bool files;                 /* has paths to write: FILES rows of syscalls.def */
	const int *syscalls;        /* in addition to the common list; ends with -1 */
	const int
	    *refused; /* fail with ENOENT instead of killing the process; ends with -1; or NULL */
	uint64_t memory_bytes; /* RLIMIT_AS, 0: none */
	uint64_t open_files;   /* RLIMIT_NOFILE */
};
