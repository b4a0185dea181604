/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - all that the executor can ask of the builder, and all that it hears back.
 *
 * One struct is one message over a SOCK_SEQPACKET pair; sizes are fixed, so there is nothing to
 * parse.  The builder believes no number in an order (order_check): the executor speaks to the
 * outside and may have been taken over.  Ids are the executor's and are unique among the living.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ORDER_SOCKET = 3, /* the builder's end */
	ORDER_SHELF,      /* what a builder is started with besides, if an earlier one left it: */
	ORDER_SLOT,       /* host.h; no other descriptors but 0-2 */
	ORDER_MAX_LIVING = 4096, /* boxes, programs and stewards, and as many workspaces */
	ORDER_MAX_RUNTIMES = 16,
	ORDER_MAX_ZYGOTES = 8,
	ORDER_MAX_FDS = 3,
};

/* clang-format off */
enum layer {
#define LAYER(id, name, need) LAYER_##id,
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

/* What the group of a box counts (limits/cgroup_use.h). */
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
 * A box is a place: namespaces, mounts, cgroups, and a pid 1 that does nothing.  Programs are
 * started in it, any number one after another and some beside each other; each goes through the
 * whole jail by itself before it runs.
 */
enum order_kind {
	ORDER_WORKSPACE = 1, /* id: of the workspace; bytes, files, adopt */
	ORDER_WIPE,          /* id: of a workspace that nothing uses any more */
	ORDER_BOX,           /* id, workspace, limits */
	ORDER_PROGRAM, /* id, box, runtime, zygote, alone; descriptors: stdout, stderr, control.
	                  The box may still be in the making. */
	ORDER_STEWARD, /* id, workspace, limits; descriptor: its channel */
	ORDER_CLOCK,   /* id: of a box that is ended wall_ms and a grace from now, and after cpu_ms
	                  more of processor time; 0: not for that any more, and what it has used
	                  is answered */
	ORDER_SIGNAL,  /* id: of a program; signal */
	ORDER_KILL,    /* id: of a box or steward; all in it still end with answers */
	ORDER_CLEAR,   /* workspaces that were left, and that nobody has adopted, are wiped */
};

struct order {
	uint32_t kind, id, workspace;
	uint32_t box;     /* of a program: where */
	uint32_t runtime; /* enum language, and from language_COUNT on the settings' own */
	uint32_t zygote;  /* 0: start it from its file; else fork that zygote, from 1 */
	uint32_t alone;   /* 1: the box ends with this program */
	uint32_t signal;
	uint32_t container; /* of a box: programs run in containers by that one (enum container) */
	uint32_t adopt;     /* of a workspace: 1: one that an earlier builder left */
	uint64_t bytes, files; /* of a workspace */
	uint64_t memory_bytes, tmp_bytes, cpu_milli, processes, open_files;
	uint64_t wall_ms, cpu_ms;
};

enum answer_kind {
	ANSWER_READY = 1, /* the builder is up: layers of a box tried for this; id 0.  Descriptors:
	                     its shelf and its slot, unless it goes on with what it was given */
	ANSWER_WORKSPACE, /* it is there, with an O_PATH descriptor of its root; or error */
	ANSWER_STARTED,   /* of a box: it is closed, with descriptors of what its group counts
	                     (uses); of a program: its jail is closed and it starts now; layers,
	                     step_us */
	ANSWER_USED,   /* of a box, to ORDER_CLOCK without a time, if it lives: what it has used */
	ANSWER_KILLED, /* of a box, to ORDER_KILL: all in it were sent SIGKILL; what it has used */
	ANSWER_ENDED,  /* nothing of it is left; error: it never started */
};

/* How the layers of a box stand: bits by enum layer; why[]: errno where wanted and not in force. */
struct layers {
	uint64_t in_force, wanted;
	uint8_t why[LAYER_COUNT];
	uint32_t limits_by;
	uint32_t container; /* enum container: what made them */
};

struct answer {
	uint32_t kind, id;
	struct err error; /* ERR_none: it worked */
	struct layers layers;
	uint32_t step_us[STEP_COUNT]; /* STARTED: how long each step of making it took */
	uint32_t uses; /* STARTED, of a box: bits by enum cgroup_uses: those that have come */
	bool cold;     /* STARTED, of a program: from its file, whether or not a zygote was asked */
	int32_t status; /* ENDED, of a program, a steward: as of wait(2) */
	/* USED, KILLED, ENDED, of a box: since it was USED before, or was made */
	bool out_of_memory, out_of_cpu, too_many_processes; /* a limit was hit */
	uint32_t locks; /* of files, that it was ended for: out_of_memory, too; else 0 */
	uint64_t cpu_us, max_memory_bytes; /* 0: the host cannot tell */
	uint32_t remove_us; /* of a box: from its last process's end to nothing left */
};

/* The same bounds on both sides: 0, or -1 naming the field.  nfds: how many came with it. */
int order_check(const struct order *, size_t nfds, struct err *);
/* "memory limit" and so on. */
const char *layer_name(enum layer);
bool layer_needed(enum layer);
const char *step_name(enum step);

/* The steward's program (steward.c): pid 1 of a jail with the box's uid and nothing but /workspace;
 * fd is its end of a SOCK_SEQPACKET pair.  What it returns is its exit code. */
int steward_main(int fd);
