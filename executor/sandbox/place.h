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
	bool holds_output;    /* its container runtime keeps the pipes of programs open */
	bool deserted;        /* all processes but a finished program have ended */
	uint64_t timer;       /* until a deserted box is killed */
	struct answer past;   /* usage since box_mark() */
	int use[CGROUP_USES]; /* files with the cgroup's counters, or -1 */
	uint64_t read_us, read_refused, read_tasks; /* counters when they were last read, */
	uint64_t told_us, told_refused, told_tasks; /* and at the end of the last run */
	uint64_t told_processes;                    /* that it had then */
};

/* The box is being killed, so the program is not the cause of its own end. */
void program_box_killed(struct program *);
/* The usage of the box is known. */
void program_box_used(struct program *);
/* Everything about the end of the box is known: its usage, and whether that exceeded a limit. */
void program_box_told(struct program *);
/* Can this process read the number of processes and the usage of the box? */
bool box_is_counted(const struct box *);
/* Writes the usage since box_mark() to `past`.  false: it cannot be read here. */
bool box_count(struct box *);
/* From now on usage is the next run's, and the processes that were counted are no news. */
void box_mark(struct box *);
/* After it: one of these is a program that has just become ready. */
void box_mark_start(struct box *);
/* After box_count(): are there more processes or threads in the box than at box_mark()? */
bool box_may_have_grown(const struct box *);
/* After the builder's answer to builder_request_count(): are there more processes? */
bool box_grew(const struct box *);
/* True if at most our own process and a program with a single thread are left in the box.
 * false: there are more, or it cannot be seen. */
bool box_is_deserted(struct box *);
struct program *program_next(const struct program *);
/* A program has left the box, or the box has ended: reports what is due, and frees the box after
 * the last program. */
void box_settle(struct box *);
