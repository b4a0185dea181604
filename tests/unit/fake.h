/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.h - scripted replacements of what the executor's files depend on: the clock, threads, the
 * bus, the spool, workspaces, boxes, programs and files.
 *
 * Nothing is answered before the test says so. A process that was killed while it had nothing to
 * run ends with the next step of the script. The test owns the texts and lists in a fake; a reply
 * is stored as it was received.
 */
#pragma once

#include "common/bus/bus.h"

#include "executor/files/files.h"
#include "executor/sandbox/box.h"

enum {
	FAKE_MAX = 256,
};

struct fake_call {
	struct call call; /* first */
	unsigned ended;   /* times it was replied to or failed */
	struct err why;   /* ERR_none: it has a reply */
	union {
		struct execution execution;
		struct session_created session_created;
		struct session_status session_status;
		struct uploaded uploaded;
		struct artifact_content content;
		struct artifact_list list;
		struct snapshot snapshot;
		struct restored restored;
		struct stats stats;
		struct bridged bridged;
		struct resource_limits limits;
		struct validation_report report;
		struct csv_report table;
	} reply;
	size_t parts; /* parts of its stream */
};

struct fake_ask {
	struct ask ask;
	uint64_t id;
	bool done;
};

/* An operation that waits for its reply. */
enum fake_kind {
	FAKE_WORKSPACE,
	FAKE_LIST,
	FAKE_READ,
	FAKE_TYPE,
	FAKE_WRITE,
	FAKE_FILL,
	FAKE_RUN,    /* code given to a program */
	FAKE_THREAD, /* work given to a thread */
};

struct fake_work {
	enum fake_kind kind;
	void *done, *self, *want, *output;
	struct workspace *workspace;
	struct program *program;
	char *code;
	const char *path;
	bool killed, over;
};

extern struct fake {
	int64_t now_ms;
	struct bus_counts counts;
	size_t mounts; /* that boxes got */
	struct fake_ask asks[FAKE_MAX];
	size_t nasks;
	struct fake_work work[FAKE_MAX];
	size_t nwork;
	int events[FAKE_MAX]; /* as recorded */
	size_t nevents;
	bool spool_full, holds_files; /* what workspace_left() returns */
	bool full;                    /* a workspace has no room for another file */
	int workspaces;               /* existing workspaces */
	uint32_t workspace, adopted;  /* number of the last one, and the one last requested */
	int boxes, programs;          /* existing ones */
	size_t forked, started;       /* programs: from a zygote, or from a file */
	size_t wanted;                /* of the started ones: those that a request waited for */
	size_t bridged;               /* values passed to programs */
	size_t given;                 /* contents, by files_give() */
	char stream[65536];           /* output as it was streamed */
} fake;

void fake_reset(void);
/* The executor's options: defaults, then the environment.  -1 with *e as options_check() says. */
int fake_options(struct err *e);
/* Advances the clock; returns the number of timers that fired. */
size_t fake_pass(int64_t ms);
/* The number of recorded events of that kind. */
size_t fake_count(enum event);

struct fake_call *fake_call(enum msg_id, const char *principal);
/* Frees it and its reply; it must have ended exactly once. */
void fake_forget(struct fake_call *);

/* Called by the fakes: adds an operation that waits for its reply; the first one of a kind is
 * answered first. */
struct fake_work *fake_add(enum fake_kind, void *done, void *self);
struct fake_work *fake_over(enum fake_kind);
/* Sets whether a box uses the workspace. */
void fake_occupy(struct workspace *, int boxes);
/* The first open operation of that kind, or NULL. */
struct fake_work *fake_find(enum fake_kind);
/* Completes a thread's work. */
void fake_thread(void);
/* Each ends the operation; e NULL: success. */
void fake_make(const struct err *e);
void fake_list(struct tree_entry *items, size_t count, const struct err *e);
void fake_read(const char *content, const struct err *e);
/* Sets the type detected from the file's bytes. */
void fake_type(const char *type, const struct err *e);
void fake_write(const struct err *e);
void fake_fill(const struct err *e);
/* Makes the first started program ready; false: there is none. */
bool fake_ready(void);
/* Kills it instead, or while it waits; false: there is none. */
bool fake_die(const struct err *e);
/* Ends the processes that were killed. */
void fake_bury(void);
/* The running code as text; NULL: none. */
const char *fake_code(void);
/* The running program writes to stdout. */
void fake_output(const char *text);
/* Ends the first run, after making its program ready if necessary; the layers are filled in.
 * The program ends, too, if it was alone, if it was killed, and if the end says so. */
void fake_end_run(struct box_end);
/* The latest open request for that message; NULL: none. */
struct fake_ask *fake_asked(enum msg_id);
/* Answers it; reply NULL: it fails with *e. */
void fake_answer(enum msg_id, void *reply, const struct err *e);
/* What rights_of() gives for every owner. */
struct rights;
extern const struct rights *fake_rights;
