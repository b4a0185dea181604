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
	} reply;
	size_t parts; /* of its stream */
};

struct fake_ask {
	struct ask ask;
	uint64_t id;
	bool done;
};

/* Something that waits to be answered. */
enum fake_kind {
	FAKE_WORKSPACE,
	FAKE_LIST,
	FAKE_READ,
	FAKE_TYPE,
	FAKE_WRITE,
	FAKE_FILL,
	FAKE_RUN,    /* code that a program has */
	FAKE_THREAD, /* what a thread was given */
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
	struct fake_ask asks[FAKE_MAX];
	size_t nasks;
	struct fake_work work[FAKE_MAX];
	size_t nwork;
	int events[FAKE_MAX]; /* as recorded */
	size_t nevents;
	bool spool_full, holds_files; /* what workspace_left() tells */
	bool full;                    /* a workspace has room for no file more */
	int workspaces;               /* that live */
	uint32_t workspace, adopted;  /* the last one's number, and the one asked for last */
	int boxes, programs;          /* likewise */
	size_t forked, started;       /* programs: from a zygote, or from a file */
	size_t wanted;                /* of these: somebody waited for them already */
	size_t bridged;               /* values that were handed to programs */
	size_t given;                 /* contents, by files_give() */
	char stream[65536];           /* output as it was streamed */
} fake;

void fake_reset(void);
/* The executor's options: defaults, then the environment.  -1 with *e as options_check() says. */
int fake_options(struct err *e);
/* Time passes; how many timers fired. */
size_t fake_pass(int64_t ms);
/* How many records of that event there are. */
size_t fake_count(enum event);

struct fake_call *fake_call(enum msg_id, const char *principal);
/* Frees it and its reply; it must have ended exactly once. */
void fake_forget(struct fake_call *);

/* For what plays a part of its own: something waits to be answered; the first of a kind is. */
struct fake_work *fake_add(enum fake_kind, void *done, void *self);
struct fake_work *fake_over(enum fake_kind);
/* Of workspaces: a box is on it, or not any more. */
void fake_occupy(struct workspace *, int boxes);
/* The first open piece of work of that kind, or NULL. */
struct fake_work *fake_find(enum fake_kind);
/* A thread has done its part. */
void fake_thread(void);
/* Each ends it; e NULL: well. */
void fake_make(const struct err *e);
void fake_list(struct tree_entry *items, size_t count, const struct err *e);
void fake_read(const char *content, const struct err *e);
/* What the bytes of the file tell. */
void fake_type(const char *type, const struct err *e);
void fake_write(const struct err *e);
void fake_fill(const struct err *e);
/* The first program that was started and is not ready is so; false: there is none. */
bool fake_ready(void);
/* It dies instead, or while it waits; false: there is none. */
bool fake_die(const struct err *e);
/* Ends what was killed. */
void fake_bury(void);
/* The code that runs, as text; NULL: none does. */
const char *fake_code(void);
/* The program that runs writes to stdout. */
void fake_output(const char *text);
/* The first run is over, its program made ready if need be; the layers are filled in.  The program
 * is gone too where it was alone, where it was killed and where the end says so. */
void fake_end_run(struct box_end);
/* The latest open question for that message; NULL. */
struct fake_ask *fake_asked(enum msg_id);
/* Answers it; reply NULL: with *e. */
void fake_answer(enum msg_id, void *reply, const struct err *e);
