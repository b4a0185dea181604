/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - the executor's side of the builder: workspaces, and boxes that run a program in one.
 *
 * The builder is a program of its own (builder/), root or the user in a user namespace; it is asked
 * by fixed-size structs over a socketpair (builder/order.h).  What a box writes is hostile: every
 * byte that comes back here is bounded and checked before it is handed on.  Everything is answered
 * later, from the loop.
 */
#pragma once

#include "common/err.h"
#include "common/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct box;
struct workspace;

/* ---- the builder ---- */

/* In open(), before the jail: starts cloister-builder, which tries every layer once and reports. */
int builder_open(struct err *);
/* In start(): watches it.  Its death ends this daemon, for nobody in the jail can start another. */
int builder_start(struct err *);
void builder_stop(void);
/* The layers that were in force in the box tried at the start; isolation of a run comes with its
 * end. */
const struct isolation *builder_isolation(void);

/* ---- workspaces ---- */

struct workspace_limits {
	uint64_t bytes, files;
};

/* A tmpfs with these limits, empty.  done: exactly once; the workspace is then the caller's. */
void workspace_make(const struct workspace_limits *,
    void (*done)(void *self, struct workspace *, const struct err *), void *self);
/* Wipes it; not while a box or a file operation uses it.  NULL is fine. */
void workspace_drop(struct workspace *);
/* Cheap, no process is started: does it hold any file?  -1 with *e. */
int workspace_is_empty(const struct workspace *, bool *empty, struct err *);

/* ---- boxes ---- */

struct box_limits {
	uint64_t memory_bytes, cpu_milli, processes, open_files, tmp_bytes;
	uint64_t wall_ms;      /* from the program's start */
	uint64_t output_bytes; /* kept of stdout, and of stderr: half from the front, half from the
	                          end */
};

struct box_spec {
	enum language language;
	struct box_limits limits;
	const struct workspace *workspace;
	const void *code;
	size_t code_size;
};

enum box_how {
	BOX_EXITED,    /* exit_code says */
	BOX_SIGNALLED, /* signal says */
	BOX_TIMED_OUT,
	BOX_OUT_OF_MEMORY,
	BOX_KILLED, /* by box_kill() */
};

/* How a program ended; texts and blobs are the receiver's if it takes them, and cleared otherwise.
 */
struct box_end {
	enum box_how how;
	int exit_code, signal;
	double wall_ms, cpu_ms;
	uint64_t max_memory_bytes; /* 0: the host cannot tell */
	bool too_many_processes;   /* the limit was hit */
	struct blob out, err;      /* as written, bytes */
	bool out_truncated, err_truncated;
	struct blob result; /* JSON text as the guest claims it, at most 1 MiB; data NULL: none */
	struct texts variables;        /* at most 256 names, UTF-8 */
	char *error_type, *error_text; /* of an uncaught exception, UTF-8, or NULL */
	uint64_t error_line;
	struct isolation isolation; /* in force in this very box */
};

struct box_events {
	/* Bytes of a channel as they come; NULL: nobody wants to see. */
	void (*output)(void *self, enum channel, const void *data, size_t size);
	/* Exactly once, when nothing of the box is left.  end NULL: it never ran, *e says why. */
	void (*ended)(void *self, struct box_end *end, const struct err *e);
};

/* NULL with *e if it cannot even be asked for; then ended is not called. */
struct box *box_start(const struct box_spec *, const struct box_events *, void *self, struct err *);
/* Ends it now; ended still comes. */
void box_kill(struct box *);
