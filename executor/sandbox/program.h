/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a program in a box, shared by program.c, which runs it, program_grace.c, which
 * waits for what it left, and program_end.c, which reports its end. */
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
	struct program *next, **link; /* programs of the same box */
	struct box *box;
	struct builder_request *builder_request; /* NULL: it has ended */
	struct program_events events;
	void *self;
	bool alone, forked; /* forked: from a zygote */
	enum stage state;
	struct output out, err;
	struct control control;
	struct frames frames;

	/* Of the current run, or of the next one. */
	struct blob code, guard; /* they wait until the program is idle */
	bool statement, files, packages;
	unsigned manners; /* of the code */
	uint64_t wall_ms, cpu_ms, output_bytes;
	const struct vault_values *secrets; /* or NULL */
	const struct redact *redact;        /* or NULL */
	const struct texts *arguments;      /* or NULL */
	const struct blob *input;           /* standard input, or NULL */
	uint64_t timer, late;               /* late: when the run has lasted for a moment */
	int64_t began_us, ended_us;         /* the run */
	bool over;     /* the statement has ended, but its usage is not known yet */
	bool asked;    /* the builder was asked for the usage */
	bool survived; /* processes that it had started did not end with the run */
	void (*go_on)(struct program *); /* what waits for them to end; NULL: nothing does */
	enum box_how stopped;            /* BOX_EXITED: not stopped */
	bool again;                      /* interrupt once more before killing */

	bool finished; /* the driver reported the end; only the exit is missing */
	bool killed;   /* killed by this process */
	struct answer started, past;
};

enum {
	PROGRAM_MAKING_MS = 30000, /* a program that is not ready by then is killed */
};

/* Appends the frames of the next run to what is sent. */
int program_add_code(struct program *, struct err *);
void program_stop_clocks(struct program *);
/* Calls go_on() when no process can write to the program's pipes, or after the grace; maybe at
 * once. */
void program_await_writers(struct program *, void (*go_on)(struct program *));
/* Calls go_on() when the box has no more processes than before the run, or after the grace.  false:
 * nobody can count them, and go_on() is not called. */
bool program_await_processes(struct program *, void (*go_on)(struct program *));
/* The builder has counted them. */
void program_counted(struct program *);
/* Reports how the run ended; gone: the program has ended, too. */
void program_tell(const struct program *, bool gone, struct box_end *);
/* Redacts what the driver claimed, and forgets the secrets of the run. */
void program_redact(struct program *, struct box_end *);
/* Why the program ended without a run. */
struct err program_why_not(const struct program *);
/* The program was killed, but not by this executor. */
bool program_is_unexplained(const struct program *);
