/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - programs in boxes: processes that join an existing box.  They are started from their
 * file, or forked by another process (zygotes.h), which is then their parent.
 */
#pragma once

#include "executor/builder/box.h"

struct program {
	struct process process;
	int fds[ORDER_MAX_FDS]; /* until it is cloned */
	bool zombie, reaped;    /* zombie: its end was noticed; reaped: its status is known */
};

/* What forks programs. */
struct program_forker {
	/* Asks for a fork of that program.  Then program_forked() or program_lost() is called.
	 * -1: it is not available, and neither is called. */
	int (*fork)(struct program *);
	/* A child of that zygote has ended.  Bounds the wait for the report of its status. */
	void (*expect)(uint32_t zygote);
};

extern const struct process_kind program_kind;

int program_open(const struct host *, const struct program_forker *, struct err *);
/* The seccomp programs of the languages, by enum language. */
const struct filter *program_filters(void);
/* The process must be a program. */
struct program *program_of(struct process *);

/* Makes the program of an order that names an existing runtime and zygote.  Takes ownership of
 * the descriptors, unless it fails.  The answers are sent later. */
int program_order(const struct order *, int *fds, size_t nfds, struct err *);
void program_signal(struct program *, int signal);
/* Without the event loop: starts, in a box, a program that runs no code and ends as soon as all
 * layers are in force.  The caller frees it. */
struct program *program_probe(struct box *, struct err *);

/* ---- for the forker ---- */

/* It forked the child that it was asked for.  pid -1: the fork failed. */
void program_forked(struct program *, pid_t, int pidfd);
/* Call if it is unknown whether the fork exists.  It may hold all descriptors that were sent, so
 * it is killed with its box. */
void program_lost(struct program *);
/* A child of that zygote ended; the zygote itself ended. */
void program_reaped_by(uint32_t zygote, pid_t, int status, const struct rusage *);
void program_zygote_ended(uint32_t zygote);
