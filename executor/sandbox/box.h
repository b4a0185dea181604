/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - the executor's side of the builder: workspaces, boxes on them, and programs in those.
 *
 * The builder is a program of its own (builder/), root or the user in a user namespace; it is asked
 * by fixed-size structs over a socketpair (builder/order.h).  What a program writes is hostile:
 * every byte that comes back here is bounded and checked before it is handed on.  Everything is
 * answered later, from the loop.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct box;
struct program;
struct workspace;

/* ---- the builder ---- */

/* In open(), before the jail: starts cloister-builder with these arguments (NULL: none), which
 * tries every layer once and reports. */
int builder_open(const struct texts *arguments, struct err *);
/* Workspaces outlive a builder where somebody keeps these descriptors, which open nothing to who
 * has no power over mounts: given to the next before builder_open(), and taken from either. */
enum {
	BUILDER_KEPT = 2,
};
void builder_give(int kept[BUILDER_KEPT]);
/* After builder_open(); -1: there are none.  true: the builder goes on with what it was given. */
bool builder_leave(int kept[BUILDER_KEPT]);
/* In start(): watches it.  Its death ends this daemon, for nobody in the jail can start another. */
int builder_start(struct err *);
void builder_stop(void);
/* The layers that were in force in the box tried at the start; isolation of a run comes with its
 * end. */
const struct isolation *builder_isolation(void);
/* How a container runtime (builder/containers.h) is named in isolation; its bare name otherwise. */
void isolation_entitle(uint32_t container, const char *title);
const char *isolation_title(uint32_t container);

/* ---- workspaces ---- */

struct workspace_limits {
	uint64_t bytes, files;
};

/* A tmpfs with these limits, empty.  done: exactly once; the workspace is then the caller's. */
void workspace_make(const struct workspace_limits *,
    void (*done)(void *self, struct workspace *, const struct err *), void *self);
/* The same of one that an earlier builder left, with the number it had. */
void workspace_adopt(uint32_t id, const struct workspace_limits *,
    void (*done)(void *self, struct workspace *, const struct err *), void *self);
/* Those that were left, and that nobody has adopted, are wiped; before any is made. */
void workspace_clear(void);
/* Never 0; what workspace_adopt() wants to know later. */
uint32_t workspace_id(const struct workspace *);
/* Wipes it; not while a box or a file operation uses it.  NULL is fine. */
void workspace_drop(struct workspace *);
/* Cheap, no process is started: what it has room for yet, and is it without any file?  -1 with *e.
 */
int workspace_left(
    const struct workspace *, struct workspace_limits *left, bool *bare, struct err *);

/* ---- boxes ---- */

struct box_limits {
	uint64_t memory_bytes, cpu_milli, processes, open_files, tmp_bytes; /* of a box, for life */
	uint64_t container;    /* enum container: what its programs are held by besides */
	uint64_t wall_ms;      /* of each run in it, from when an idle program has the code */
	uint64_t cpu_ms;       /* of processor time of each run in it; 0: no limit */
	uint64_t output_bytes; /* kept of stdout, and of stderr, of each run: half from the front,
	                          half from the end */
};

/* A place for programs, on a workspace.  Programs may be started in it at once.
 * ended: exactly once, when nothing of it is left and its programs were told of; *e: ERR_none, or
 * why it never was.  NULL with *e if it cannot even be asked for; then ended is not called. */
struct box *box_make(const struct box_limits *, const struct workspace *,
    void (*ended)(void *self, const struct err *e), void *self, struct err *);
/* Ends it and all in it now; every end is still told. */
void box_kill(struct box *);
/* Can no program be started in it any more? */
bool box_is_ending(const struct box *);

/* ---- programs ---- */

enum box_how {
	BOX_EXITED,    /* exit_code says */
	BOX_SIGNALLED, /* signal says */
	BOX_TIMED_OUT,
	BOX_OUT_OF_MEMORY,
	BOX_OUT_OF_CPU,
	BOX_KILLED, /* by box_kill(), program_kill() or program_interrupt() */
};

/* Something to be shown, as the guest claims. */
struct box_rich {
	char *mime_type; /* type/subtype, at most 128 bytes */
	struct blob data;
};

/* How a run ended; texts and blobs are the receiver's if it takes them, and cleared otherwise. */
struct box_end {
	enum box_how how;
	int exit_code, signal;
	double wall_ms, cpu_ms;
	uint64_t max_memory_bytes; /* 0: the host cannot tell */
	uint32_t locks;            /* BOX_OUT_OF_MEMORY for so many of files; 0: not for them */
	bool too_many_processes;   /* the limit was hit */
	bool program_gone;         /* with it, and all that it had defined */
	bool cold;                 /* its program was started from its file, */
	bool warm;                 /* home.c: it was not, or it waited for its code */
	bool restarted;            /* home.c: what earlier statements defined was lost before it */
	struct err lost;           /* nobody knows how it ended: the builder did */
	struct blob out, err;      /* as written, bytes */
	uint64_t out_dropped, err_dropped; /* bytes in the middle that were not kept */
	struct blob result; /* JSON text as the guest claims it, at most 1 MiB; data NULL: none */
	struct texts variables;        /* at most 256 names, UTF-8 */
	char *error_type, *error_text; /* of an uncaught exception, UTF-8, or NULL */
	uint64_t error_line;
	bool unreadable; /* the code itself: nothing of it ran, or only what a shell had read */
	struct box_rich rich[8];
	size_t nrich;
	struct isolation isolation; /* in force in this very program */
};
/* Frees what nobody took. */
void box_end_clear(struct box_end *);

struct program_spec {
	unsigned language;
	uint32_t zygote; /* 0: start it from its file; else a fork of that one */
	bool alone;      /* the box ends with it; it has one run */
	bool wanted;     /* somebody waits already: it prepares nothing for who comes later */
};

struct program_events {
	/* It waits for its first code; may be NULL. */
	void (*ready)(void *self);
	/* Bytes of a channel as they come during a run; NULL: nobody wants to see. */
	void (*output)(void *self, enum channel, const void *data, size_t size);
	/* Once for each run that began: a statement is over, or the program, and where that was
	 * alone its box. */
	void (*done)(void *self, struct box_end *end);
	/* Exactly once, last: nothing of it is left.  *e: ERR_none, or why it never was ready. */
	void (*ended)(void *self, const struct err *e);
};

/* NULL with *e if it cannot even be asked for; then nothing is called. */
struct program *program_start(struct box *, const struct program_spec *,
    const struct program_events *, void *self, struct err *);

struct program_code {
	const void *data;
	size_t size;
	struct blob guard; /* a PROFILE frame's payload; data NULL: none */
	bool statement;    /* what it defines stays for the next; else the program ends with it */
	bool files;        /* there may be some in the workspace */
	uint64_t wall_ms, cpu_ms, output_bytes;
};

/* Hands it over when the program is idle, and that is when the run begins; one at a time. */
int program_run(struct program *, const struct program_code *, struct err *);
/* A JSON value for the program's `bridge`, seen by the code that is run next.
 * limit_exceeded where it does not read. */
int program_bridge(struct program *, const char *key, const struct blob *json, struct err *);
/* Ends the statement that runs and leaves the program as it is, or kills it 2 seconds later. */
void program_interrupt(struct program *);
/* Ends it now, and its box where it is alone. */
void program_kill(struct program *);
