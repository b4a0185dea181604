/* SPDX-License-Identifier: Apache-2.0 */
/* made.h - the files and pictures that a run made: named, or kept in a directory. */
#pragma once

#include "compose/cloister/transfer.h"

#include <stdbool.h>

struct made {
	const char *directory; /* where they are kept; NULL: they are named only */
	struct transfer transfer;
	const char *pictures; /* where those without a file are kept, beside what is there; NULL: as
	                       * directory says */
	bool in_session;      /* the caller's, which keeps the files; set by made_begin() */
};

/* With a directory: makes it, and for a run without a session one, whose id is added to the
 * arguments. */
int made_begin(struct made *, json_t *arguments, struct err *);
/* After the run: writes the files and pictures of its reply, or names them on stderr.  Each file
 * that cannot be kept is named with the reason; -1 then. */
int made_end(const struct made *, const json_t *reply, const json_t *run);
