/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - all requests of the executor to the builder, and all answers.
 *
 * One struct is one message over a SOCK_SEQPACKET pair.  Sizes are fixed, so nothing has to be
 * parsed.  The builder checks every number in an order (order_check), because the executor
 * communicates with the outside and may be compromised.  The executor chooses the ids, which are
 * unique among the existing objects.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ORDER_SOCKET = 3, /* the builder's end; it inherits no other descriptors but 0-2 and, */
	ORDER_WORKSPACE_TABLE,   /* if an earlier builder left them, the workspaces' namespace */
	ORDER_SLOT,              /* and the lock of its slot (host.h) */
	ORDER_MAX_LIVING = 4096, /* boxes, programs and file helpers; also maximum of workspaces */
	ORDER_MAX_RUNTIMES = 16,
	ORDER_MAX_ENVIRONMENTS = 8, /* interpreters of Python, with that of the setting */
	ORDER_MAX_ZYGOTES = 10,
	ORDER_MAX_FDS = 3,
	ORDER_MAX_PORTS = 8,
	/* What ORDER_MOUNT mounts: a directory of a workspace on /packages/0 and so on, */
	ORDER_MAX_PACKAGES = 128,
	ORDER_USR_LOCAL = ORDER_MAX_PACKAGES, /* on /usr/local, */
	ORDER_NODE_MODULES,                   /* or on /node_modules; */
	ORDER_USER_BASE, /* a tmpfs of the box's own, for what its programs install */
	ORDER_PLACES,
};

/* The directory of a workspace that ORDER_MOUNT mounts. */
#define ORDER_MOUNTED "shown"

/* clang-format off */
enum layer {
#define LAYER(id, name, need, has) LAYER_##id,
#include "executor/builder/layers.def"
	LAYER_COUNT
};

enum step {
#define STEP(id, what) STEP_##id,
#include "executor/builder/steps.def"
	STEP_COUNT
};
/* clang-format on */

enum limits_by {
	LIMITS_RLIMIT,
	LIMITS_CGROUP1,
	LIMITS_CGROUP2,
};

/* Counters of a box's cgroup (limits/cgroup_use.h). */
enum cgroup_uses {
	CGROUP_OOM,
	CGROUP_PEAK,
	CGROUP_FULL,
	CGROUP_PROCESSES,
	CGROUP_CPU,
	CGROUP_CPU_NS,
	CGROUP_USES,
};

/*
 * A box consists of namespaces, mounts, cgroups, and a pid 1 that only reaps.  Any number of
 * programs are started in it, one after another or at the same time.  Each of them enters all
 * layers itself before it runs.
 */
enum order_kind {
	ORDER_WORKSPACE = 1, /* id: of the workspace; bytes, files, adopt */
	ORDER_WIPE,          /* id: of an unused workspace */
	ORDER_BOX,           /* id, workspace, limits */
	ORDER_PROGRAM,     /* id, box, runtime, zygote, alone; descriptors: stdout, stderr, control.
	                      The box may still be incomplete. */
	ORDER_FILE_HELPER, /* id, workspace, limits; descriptor: its channel */
	ORDER_CLOCK,  /* id: of a box, killed wall_ms and a grace period from now, or after cpu_ms
	                 more  of processor time; 0 cancels that limit, and the answer is USED */
	ORDER_COUNT,  /* id: of a box; the answer is COUNTED */
	ORDER_SIGNAL, /* id: of a program; signal */
	ORDER_KILL,   /* id: of a box or file helper; all programs in it still get ENDED */
	ORDER_LISTEN, /* id; box: makes the sockets of a network in its network namespace.  Answers:
	                 STARTED with a socket for DNS and one for each of ports, then ENDED */
	ORDER_MOUNT, /* id, box, place; workspace: mounts ORDER_MOUNTED of it in the box, read-only.
	                USER_BASE: no workspace (user_base.h).  Answer: ENDED */
	ORDER_TRUST, /* id, box; descriptor: of a pipe with a certificate in PEM, which is whole:
	                programs of the box trust it (box_trust.h).  Answer: ENDED */
	ORDER_CLEAR, /* wipes workspaces of an earlier builder that were not adopted */
};

struct order {
	uint32_t kind, id, workspace;
	uint32_t box;     /* of a program: its box */
	uint32_t runtime; /* enum language; runtimes of the settings start at language_COUNT */
	uint32_t zygote;  /* 0: start it from its file; otherwise the zygote to fork, from 1 */
	uint32_t alone;   /* 1: the box ends soon after this program */
	uint32_t signal;
	uint32_t container;              /* of a box: enum container: the runtime of its programs */
	uint16_t ports[ORDER_MAX_PORTS]; /* ends with 0, or is full */
	uint32_t place;                  /* of a mount */
	uint32_t adopt;        /* of a workspace: 1: take over one that an earlier builder left */
	uint32_t environment;  /* of a box: the Python of its programs; 0: that of the setting */
	uint64_t bytes, files; /* of a workspace */
	uint64_t memory_bytes, tmp_bytes, cpu_milli, processes, open_files;
	uint64_t wall_ms, cpu_ms;
};

enum answer_kind {
	ANSWER_READY = 1, /* the builder is up; id 0, layers of a trial box.  Descriptors: the
	                     workspaces' namespace and its slot, unless inherited ones are in use */
	ANSWER_WORKSPACE, /* the workspace exists, with an O_PATH descriptor of its root; or error
	                   */
	ANSWER_STARTED,   /* of a box: it is isolated; with descriptors of its counters (uses); of a
	                     program: it is isolated and starts now; layers, step_us */
	ANSWER_USED,      /* of a living box, reply to ORDER_CLOCK without a time: its usage */
	ANSWER_COUNTED,   /* of a living box, reply to ORDER_COUNT: processes, and its usage */
	ANSWER_KILLED,    /* of a box, reply to ORDER_KILL: all its processes were sent SIGKILL; its
	                     usage */
	ANSWER_ENDED,     /* the object no longer exists; error: it never started */
};

/* The layers of a box: bits by enum layer; why[]: errno of layers that are wanted but not in
 * force. */
struct layers {
	uint64_t in_force, wanted;
	uint8_t why[LAYER_COUNT];
	uint32_t limits_by;
	uint32_t container; /* enum container: the runtime that made them */
};

struct answer {
	uint32_t kind, id;
	struct err error; /* ERR_none: success */
	struct layers layers;
	uint32_t step_us[STEP_COUNT]; /* STARTED: duration of each step */
	uint32_t step;                /* ENDED, with an error: enum step; the one that failed */
	uint32_t uses; /* STARTED, of a box: descriptors sent along: bits by enum cgroup_uses */
	bool cold; /* STARTED, of a program: started from its file, even if a zygote was asked */
	int32_t status; /* ENDED, of a program or file helper: as of wait(2) */
	/* USED, COUNTED, KILLED, ENDED, of a box: since the previous USED, or since it was made */
	bool out_of_memory, out_of_cpu, too_many_processes; /* a limit was hit */
	uint32_t
	    locks; /* number of file locks that caused the kill, with out_of_memory; otherwise 0 */
	uint64_t cpu_us, max_memory_bytes; /* 0: the host does not report it */
	/* COUNTED: in the box, without those that have ended and were not waited for; 0: unknown.
	 * Threads are counted in a cgroup only. */
	uint32_t processes, threads;
	uint32_t remove_us; /* of a box: from the end of its last process to complete removal */
};

/* Checks the bounds, the same on both sides: 0, or -1 with an error that names the field.  nfds:
 * number of descriptors that came with the order. */
int order_check(const struct order *, size_t nfds, struct err *);
/* Returns "memory limit" and so on. */
const char *layer_name(enum layer);
bool layer_needed(enum layer);
/* Can a program of this runtime have it on any host?  CONTAINER_none: a box. */
bool layer_possible(enum layer, uint32_t container);
const char *step_name(enum step);

/* Runs the file helper (file_helper.c): pid 1 of a sandbox with the box's uid and only
 * /workspace.  fd is its end of a SOCK_SEQPACKET pair.  Returns the exit code. */
int file_helper_main(int fd);
