/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a program in a box, for those who run it (program.c) and tell of its end
 * (program_end.c). */
#pragma once

#include "executor/sandbox/control.h"
#include "executor/sandbox/frames.h"
#include "executor/sandbox/output.h"
#include "executor/sandbox/place.h"

enum stage {
	STARTING,
	IDLE,
	RUNS,
};

struct program {
	struct program *next, **link; /* of its box */
	struct box *box;
	struct builder_request *builder_request; /* NULL: it ended */
	struct program_events events;
	void *self;
	bool alone, forked; /* forked: of a zygote */
	enum stage state;
	struct output out, err;
	struct control control;
	struct frames frames;

	/* Of the run, or the one to come. */
	struct blob code, guard; /* that wait for the program to be idle */
	bool statement, files;
	uint64_t wall_ms, cpu_ms, output_bytes;
	uint64_t timer, late;       /* late: when it has lasted for a moment */
	int64_t began_us, ended_us; /* of the run */
	bool over;                  /* the statement, but what it has used is not known yet */
	bool asked;                 /* the builder, for that */
	enum box_how stopped;       /* BOX_EXITED: nobody did */
	bool again;                 /* it is interrupted once more before it is killed */

	bool finished; /* its driver says that it has ended but for its exit */
	bool killed;   /* by this process */
	struct answer started, past;
};

enum {
	PROGRAM_MAKING_MS = 30000, /* one that is not ready by then is given up */
};

/* How its run ended; gone: with it. */
void program_tell(const struct program *, bool gone, struct box_end *);
/* Why it ended without any. */
struct err program_why_not(const struct program *);
/* It was killed, and nobody here did that. */
bool program_is_unexplained(const struct program *);
