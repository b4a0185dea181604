/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - what a run left, made ready for its caller: types by content, pictures, signatures.
 */
#pragma once

#include "executor/event.h"
#include "executor/files/files.h"

enum {
	COLLECT_PICTURES = 8,            /* of a run, figures and files together */
	COLLECT_PICTURE_BYTES = 4 << 20, /* of each; of schema.def */
	COLLECT_RICH = 16,               /* of schema.def */
	COLLECT_RICH_BYTES = 16 << 20,   /* of all that is rich */
	COLLECT_TYPES_MS = 500,          /* after that, names tell types */
};

/* What collecting needs of a run; the caller's, and lives until done. */
struct collection {
	struct workspace *workspace;
	struct execution *reply;                      /* has its artifacts; gets the rest */
	struct event_owner owner;                     /* for the events */
	void (*done)(void *self, const struct err *); /* e NULL: well */
	void *self;

	/* collect.c's own. */
	size_t next, pictures, bytes;
	int64_t types_until_ms;
};

/* Brings what is rich in *reply into bounds; in any thread, for it looks at megabytes. */
int collect_settle(struct collection *, struct err *);
/* After that.  Calls done, at once where nothing was left. */
void collect_start(struct collection *);
