/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one check of a value by a plan, and what its parts share. */
#pragma once

#include "validator/schema/node.h"
#include "validator/schema/place.h"
#include "validator/schema/problem.h"
#include "validator/schema/view.h"

/* Which members or items of a value some keyword has evaluated. */
struct seen {
	uint64_t *bits, few[4];
	size_t count;
};

/* The resources that were entered, from the inside to the outside. */
struct scope {
	const struct scope *up;
	const struct resource *resource;
};

struct run_limits {
	uint64_t max_steps;
	uint64_t max_ms;
};

struct run {
	const struct plan *plan;
	struct run_limits limits;
	const struct scope *scope;
	uint64_t steps, pause; /* at `pause` steps the limits are looked at */
	int64_t end_ms;        /* 0: not yet known */
	unsigned depth;
	struct problems *problems; /* NULL: stop at the first */
	bool stopped;              /* by a limit, in *e */
	struct err *e;
};

/* Is the value valid?  1, 0, or -1 with limit_exceeded.  problems: NULL, or empty. */
int run_check(const struct plan *, const struct view *value, const struct run_limits *,
    struct problems *, struct err *);

/* Checks a value by a node that has rules for it. */
bool run_enter(struct run *, const struct node *, const struct view *value, const struct place *,
    struct seen *);
/* Reports a problem, if the caller wants problems; returns false. */
bool run_fail(struct run *, const struct node *, enum keyword, const struct place *,
    const struct view *value, const char *fmt, ...) PRINTF(6, 7);
/* Looks at the limits; false: the check has ended. */
bool run_pause(struct run *);
/* Ends the check with the error in run->e; returns false. */
bool run_stop(struct run *);

/* Accounts for work; false: too much. */
static inline bool
run_spend(struct run *run, uint64_t steps)
{
	run->steps += steps;
	return run->steps < run->pause || run_pause(run);
}

/* For the rules: checks a value by a node; seen: what the caller wants to know, or NULL. */
static inline bool
run_visit(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	node = node->target;
	bool allowed = (node->types & (node->strict ? value->strict_types : value->types)) != 0;

	if (!run_spend(run, 1))
		return false;
	if (allowed ? (node->further & value->types) == 0 : run->problems == NULL)
		return allowed;
	return run_enter(run, node, value, place, seen);
}

void seen_open(struct seen *, const struct view *value);
void seen_close(struct seen *);
void seen_all(struct seen *);
void seen_join(struct seen *, const struct seen *more);

static inline void
seen_set(struct seen *seen, size_t i)
{
	if (seen != NULL)
		seen->bits[i / 64] |= 1ULL << i % 64;
}

static inline bool
seen_has(const struct seen *seen, size_t i)
{
	return (seen->bits[i / 64] >> i % 64 & 1) != 0;
}

/* The rules, by file. */
bool number_check(struct run *, const struct node *, const struct view *, const struct place *);
bool string_check(struct run *, const struct node *, const struct view *, const struct place *);
bool array_check(
    struct run *, const struct node *, const struct view *, const struct place *, struct seen *);
bool array_check_rest(
    struct run *, const struct node *, const struct view *, const struct place *, struct seen *);
bool object_check(
    struct run *, const struct node *, const struct view *, const struct place *, struct seen *);
bool object_check_rest(
    struct run *, const struct node *, const struct view *, const struct place *, struct seen *);
bool logic_check(
    struct run *, const struct node *, const struct view *, const struct place *, struct seen *);
