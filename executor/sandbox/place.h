/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - what a box and the programs in it know of each other (box.c, program.c). */
#pragma once

#include "executor/builder/limits/cgroup_use.h"
#include "executor/sandbox/builder_link.h"

struct box {
	struct builder_request *builder_request; /* NULL: it is over */
	void (*ended)(void *self, const struct err *e);
	void *self;
	struct program *programs; /* whose end was not told yet */
	bool killed;
	bool told;                      /* that all in it were sent SIGKILL, or that it is over */
	bool telling;                   /* its programs of that; they may go meanwhile */
	bool deserted;                  /* by all but a program that is done */
	uint64_t timer;                 /* until such a one is killed */
	struct answer past;             /* what was used since it was told before */
	int use[CGROUP_USES];           /* what its group counts, or -1 */
	uint64_t told_us, told_refused; /* of that: what was told before */
};

/* Its box is killed, which is so not the program's doing. */
void program_box_killed(struct program *);
/* What the box has used is known. */
void program_box_used(struct program *);
/* Its box is told: what it was used for and whether that was too much is known. */
void program_box_told(struct program *);
/* Can be seen here what is in it, and what that uses? */
bool box_is_counted(const struct box *);
/* Past is what was used up to now.  false: it cannot be seen here. */
bool box_count(struct box *);
/* The same of one where what is left is ours, and a program without a second thread.  false: there
 * is more, or it cannot be seen. */
bool box_is_deserted(struct box *);
struct program *program_next(const struct program *);
/* A program of it is gone, or its own end came: tells of it, and frees it, if that was the last. */
void box_settle(struct box *);
