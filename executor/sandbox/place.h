/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - the shared state of a box and the programs in it (box.c, program.c). */
#pragma once

#include "executor/builder/limits/cgroup_use.h"
#include "executor/sandbox/builder_link.h"

struct box {
	struct builder_request *builder_request; /* NULL: the box has ended */
	void (*ended)(void *self, const struct err *e);
	void *self;
	struct program *programs; /* whose end was not reported yet */
	bool killed;
	bool told;            /* SIGKILL was sent to all processes, or the box has ended */
	bool telling;         /* the programs are being notified; they may be freed meanwhile */
	bool deserted;        /* all processes but a finished program have ended */
	uint64_t timer;       /* until a deserted box is killed */
	struct answer past;   /* usage since the last report */
	int use[CGROUP_USES]; /* files with the cgroup's counters, or -1 */
	uint64_t told_us, told_refused; /* counters at the last report */
};

/* The box is being killed, so the program is not the cause of its own end. */
void program_box_killed(struct program *);
/* The usage of the box is known. */
void program_box_used(struct program *);
/* Everything about the end of the box is known: its usage, and whether that exceeded a limit. */
void program_box_told(struct program *);
/* Can this process read the number of processes and the usage of the box? */
bool box_is_counted(const struct box *);
/* Writes the usage up to now to `past`.  false: it cannot be read here. */
bool box_count(struct box *);
/* True if at most our own process and a program with a single thread are left in the box.
 * false: there are more, or it cannot be seen. */
bool box_is_deserted(struct box *);
struct program *program_next(const struct program *);
/* A program has left the box, or the box has ended: reports what is due, and frees the box after
 * the last program. */
void box_settle(struct box *);
