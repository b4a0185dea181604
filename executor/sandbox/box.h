/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - the executor's side of boxes, and of programs in them.
 *
 * Output of a program is hostile: each
 * byte is bounded and checked here before it is passed on.  All answers come later, from the loop.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"
#include "executor/redact/redact.h"

#include <stdbool.h>
#include <stdint.h>

struct box;
struct program;
struct workspace;

/* ---- boxes ---- */

struct box_limits {
	uint64_t memory_bytes, cpu_milli, processes, open_files, tmp_bytes; /* of a box, for life */
	uint64_t container;    /* enum container: its programs run in such a container */
	uint64_t environment;  /* the Python of its programs; a number of environment.h */
	uint64_t wall_ms;      /* of each run, from when an idle program has the code */
	uint64_t cpu_ms;       /* processor time of each run; 0: no limit */
	uint64_t output_bytes; /* kept of stdout, and of stderr, of each run: half from the front,
	                          half from the end */
};

/*
 * Makes a box on a workspace.  Programs may be started in it immediately.
 * ended: exactly once, when the box has ended and the ends of its programs were reported; *e:
 * ERR_none, or why it could not be made.  NULL with *e if the request cannot be sent; then ended
 * is not called.
 */
struct box *box_make(const struct box_limits *, const struct workspace *,
    void (*ended)(void *self, const struct err *e), void *self, struct err *);
/* Kills the box and all programs in it; every end is still reported. */
void box_kill(struct box *);
/* What a box sees beside its workspace: the directory ORDER_MOUNTED of other workspaces, read-only
 * (builder/order.h has the places).  Workspace NULL: the place needs none. */
struct box_mount {
	const struct workspace *workspace;
	unsigned place;
};
struct box_mounts {
	const struct box_mount *items;
	size_t count;
};
/* Mounts them in the box, over those of the same places.  done: exactly once, with the first
 * error, or NULL.  NULL done: an error is logged. */
int box_mount(struct box *, const struct box_mounts *, void (*done)(void *self, const struct err *),
    void *self, struct err *);
/* From now on programs in the box trust that authority, too, and none of an earlier call.  done: as
 * above. */
int box_trust(struct box *, const char *certificate, void (*done)(void *self, const struct err *),
    void *self, struct err *);
/* Is the box ending, so that no program can be started in it? */
bool box_is_ending(const struct box *);

/* ---- programs ---- */

enum box_how {
	BOX_EXITED,    /* see exit_code */
	BOX_SIGNALLED, /* see signal */
	BOX_TIMED_OUT,
	BOX_OUT_OF_MEMORY,
	BOX_OUT_OF_CPU,
	BOX_KILLED, /* by box_kill(), program_kill() or program_interrupt() */
};

/* A rich result, as the guest claims. */
struct box_rich {
	char *mime_type; /* type/subtype, at most 128 bytes */
	struct blob data;
};

/* How a run ended.  The receiver may take texts and blobs; the others are freed. */
struct box_end {
	enum box_how how;
	int exit_code, signal;
	double wall_ms, cpu_ms;
	uint64_t max_memory_bytes; /* 0: the host cannot tell */
	uint32_t locks;            /* file locks that caused BOX_OUT_OF_MEMORY; 0: not the cause */
	bool too_many_processes;   /* the limit was hit */
	bool program_gone;         /* the program ended, its definitions are lost */
	bool survived;             /* processes that it had started did not end with it */
	bool cold;                 /* the program was started from its file */
	bool warm;                 /* sandbox.c: not cold, or it waited for its code */
	bool restarted;            /* sandbox.c: earlier definitions were lost before this run */
	struct err lost;           /* the end is unknown, because the builder ended */
	struct blob out, err;      /* bytes as written */
	uint64_t out_dropped, err_dropped; /* bytes in the middle that were not kept */
	struct blob result; /* JSON text as the guest claims it, at most 1 MiB; data NULL: none */
	struct texts variables;        /* at most 256 names, UTF-8 */
	char *error_type, *error_text; /* of an uncaught exception, UTF-8, or NULL */
	uint64_t error_line;
	bool unreadable; /* syntax error: no code ran, or only the lines that a shell had read */
	struct box_rich rich[8];
	size_t nrich;
	struct isolation isolation; /* layers in force for this program */
};
/* Frees all that was not taken. */
void box_end_clear(struct box_end *);

struct program_spec {
	unsigned language;
	uint32_t zygote; /* 0: start it from its file; else fork that zygote */
	bool alone;      /* one run; the box ends with the program */
	bool wanted;     /* a call already waits, so prepare nothing for later ones */
};

struct program_events {
	/* The program waits for its first code; may be NULL. */
	void (*ready)(void *self);
	/* Bytes of a channel as they arrive during a run; may be NULL. */
	void (*output)(void *self, enum channel, const void *data, size_t size);
	/* Once for each run that began: the statement or the program has ended, and with a program
	 * that is alone also its box. */
	void (*done)(void *self, struct box_end *end);
	/* Exactly once, last: the program has ended.  *e: ERR_none, or why it never was ready. */
	void (*ended)(void *self, const struct err *e);
};

/* NULL with *e if the request cannot be sent; then no callback is called. */
struct program *program_start(struct box *, const struct program_spec *,
    const struct program_events *, void *self, struct err *);

struct program_code {
	const void *data;
	size_t size;
	struct blob guard; /* a PROFILE frame's payload; data NULL: none */
	bool statement;    /* definitions stay for the next one; else the program ends after it */
	bool files;        /* the workspace may have files */
	bool packages;     /* sandbox.c: they were mounted since the last code */
	unsigned manners;  /* enum guest_manner */
	uint64_t wall_ms, cpu_ms, output_bytes;
	/* Variables of its environment, and the redaction of all that it says; both may be NULL,
	 * and live until the run's end. */
	const struct vault_values *secrets;
	const struct redact *redact;
	/* Of a program that is no statement; both may be NULL, and live until the run's end. */
	const struct texts *arguments;
	const struct blob *input;
};

/* Sends the code when the program is idle; then the run begins.  One run at a time. */
int program_run(struct program *, const struct program_code *, struct err *);
/* Sends a JSON value for the program's `bridge`, which the next run sees.  limit_exceeded if the
 * program does not read. */
int program_bridge(struct program *, const char *key, const struct blob *json, struct err *);
/* Interrupts the running statement; the program keeps its state.  If it does not stop within
 * 2 seconds, it is killed. */
void program_interrupt(struct program *);
/* Kills the program, and its box if the program is alone. */
void program_kill(struct program *);
