/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote.h - the protocol between the builder and a zygote: fixed-size structs over a
 * SOCK_SEQPACKET pair.
 *
 * A zygote is an interpreter that has imported modules in advance and never runs a program.  It is
 * forked with the builder's capabilities.  The fork passes through confine.c before any guest code
 * runs in it.  The parent holds no order, name or descriptor of a box for longer than a fork
 * takes.
 */
#pragma once

#include "executor/builder/confine/confine.h"

#include <sys/resource.h>

enum {
	ZYGOTE_SOCKET = 3,
	ZYGOTE_START = 4, /* a file: struct zygote_start */
	ZYGOTE_PROC = 5,  /* struct host's proc */
	ZYGOTE_MAX_FDS = 16,
};

struct zygote_start {
	struct host host;
	struct filter filter;
};

/* Requests one fork.  Descriptors: stdout, stderr, control, report; the namespaces, by enum
 * host_namespace; the cgroups to join. */
struct zygote_order {
	struct order order; /* the box's, with the program's runtime */
	struct cgroup group;
	uint64_t due;    /* of struct confinement */
	uint32_t spaces; /* bits: the namespaces whose descriptors were sent */
};

enum zygote_said {
	ZYGOTE_READY = 1, /* all modules are imported */
	ZYGOTE_BORN,      /* reply to the oldest order: pid, with a pidfd; pid -1: error */
	ZYGOTE_REAPED,    /* pid, status, usage */
};

struct zygote_word {
	uint32_t said;
	int32_t pid, status, error;
	struct rusage usage;
};
