/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - prepares the files of a run for its caller: types by content, pictures, signatures.
 */
#pragma once

#include "executor/event.h"
#include "executor/files/files.h"

enum {
	COLLECT_PICTURES = 8,              /* of a run, figures and files together */
	COLLECT_PICTURE_BYTES = 4 << 20,   /* of each; of schema.def */
	COLLECT_RICH = 16,                 /* of schema.def */
	COLLECT_RICH_BYTES = 16 << 20,     /* of all rich results */
	COLLECT_TYPES_MS = 500,            /* then types are derived from names */
	COLLECT_CONTENT_BYTES = 10 << 20,  /* of a file that is returned; of schema.def */
	COLLECT_CONTENTS_BYTES = 32 << 20, /* of all these */
};

/* The run whose files are collected; belongs to the caller and must live until done. */
struct collection {
	struct workspace *workspace;
	struct execution *reply;                      /* has artifacts; gets the rest */
	struct event_owner owner;                     /* for the events */
	bool contents;                                /* return them with their content */
	void (*done)(void *self, const struct err *); /* e NULL: success */
	void *self;

	/* collect.c's own. */
	size_t next, pictures, bytes, content_bytes;
	int64_t types_until_ms;
};

/* Brings the rich results in *reply into bounds; in any thread, because it reads megabytes. */
int collect_settle(struct collection *, struct err *);
/* After that.  Calls done, immediately if the run left no files. */
void collect_start(struct collection *);
