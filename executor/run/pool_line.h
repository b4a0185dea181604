/* SPDX-License-Identifier: Apache-2.0 */
/* pool_line.h - the lines of the pool: boxes of one kind, how many there should be, and which line
 * gets the next one. For pool.c. */
#pragma once

#include "executor/builder/order.h"
#include "executor/sandbox/sandbox.h"

struct pool_wait;

struct slot {
	struct slot *next;
	struct line *line;
	struct workspace *workspace;
	struct sandbox *sandbox; /* NULL: the workspace is being made */
	bool prepares;           /* its checker; the sandbox is busy */
	bool ready;
};

struct line {
	enum sandbox_kind kind;
	unsigned language;
	uint32_t zygote;
	uint64_t environment;
	bool always; /* has boxes before it is called for */
	bool checker;
	unsigned checks; /* of a checker: the language */
	struct slot *slots;
	size_t count, ready; /* all boxes, and those that are ready */
	size_t want;
	struct pool_wait *waits; /* callers that wait for boxes in the making, oldest first */
	size_t nwaits;
	bool called_for;
	int64_t taken_ms; /* when a call last asked for a box */
	unsigned failures;
	int64_t resume_ms; /* no box is made before that */
};

struct lines {
	struct line at[3 * ORDER_MAX_RUNTIMES + 2 * ORDER_MAX_ENVIRONMENTS];
	size_t count;
};

/* The size of a line without calls. */
size_t pool_line_least(const struct line *);
/* More calls came at once than it has boxes. */
void pool_line_grow(struct line *);

/* The line that needs the next box most, among those that may have one at that time: the one with
 * the fewest.  A line without any may need others to give up boxes first: pool_line_fits(),
 * pool_line_richest().  NULL: none. */
struct line *pool_line_next(struct lines *, int64_t now_ms);
/* Is there memory for one more in this line? */
bool pool_line_fits(const struct lines *, const struct line *);
/* The line that can best give up a ready box: of those with more than one, the one that holds the
 * most memory.  NULL: none. */
struct line *pool_line_richest(struct lines *);
