/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - walks a plan and a value together.
 *
 * Trusts neither: a schema of a few lines can ask for exponential work, or refer to itself without
 * end.  Steps, time and depth are therefore bounded, and each bound has an error of its own.
 */
#include "validator/schema/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MAX_DEPTH = 1500, /* calls of run_visit() within one another; each needs some 600 bytes */
	DEEP_DATA = 100,  /* levels, from which the data is at fault */
	CLOCK_STEPS = 1024,
	TEXT_BYTES = 512,
};

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool
run_stop(struct run *run)
{
	run->stopped = true;
	run->pause = 0;
	return false;
}

bool
run_pause(struct run *run)
{
	int64_t now = now_ms();

	if (run->stopped)
		return false;
	if (run->steps > run->limits.max_steps) {
		err_set(run->e, ERR_limit_exceeded,
		    "the check takes more than %" PRIu64
		    " steps; simplify nested anyOf, oneOf and $ref of the schema",
		    run->limits.max_steps);
		return run_stop(run);
	}
	run->pause = run->steps + CLOCK_STEPS;
	if (run->end_ms == 0)
		run->end_ms = now + (int64_t)run->limits.max_ms;
	if (now <= run->end_ms)
		return true;
	err_set(run->e, ERR_limit_exceeded,
	    "the check takes more than %" PRIu64
	    " ms; simplify the schema or check less data at a time",
	    run->limits.max_ms);
	return run_stop(run);
}

bool
run_fail(struct run *run, const struct node *node, enum keyword keyword, const struct place *place,
    const struct view *value, const char *fmt, ...)
{
	char expected[TEXT_BYTES];
	va_list ap;

	if (run->problems == NULL || run->stopped)
		return false;
	va_start(ap, fmt);
	vsnprintf(expected, sizeof expected, fmt, ap);
	va_end(ap);
	json_t *name = value->json == NULL ? json_stringn_nocheck(value->text, value->count) : NULL;
	must(value->json != NULL || name != NULL);
	problem_add(run->problems, &(struct problem_facts){ node, keyword, place,
				       name != NULL ? name : value->json, expected });
	json_decref(name);
	return false;
}

/* "a string or null" */
static __attribute__((noinline)) bool
fail_type(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	char text[128] = "";
	unsigned left = node->types;

	if (run->problems == NULL)
		return false;
	if ((left & VALUE_number) != 0)
		left &= ~(unsigned)VALUE_integer;
	while (left != 0) {
		unsigned one = left & -left;
		size_t used = strlen(text);

		left &= left - 1;
		snprintf(text + used, sizeof text - used, "%s%s",
		    used == 0   ? ""
		    : left == 0 ? " or "
				: ", ",
		    value_type_name(one));
	}
	return run_fail(run, node, KEYWORD_type, place, value, "%s", text);
}

/* ---- seen ---- */

void
seen_open(struct seen *seen, const struct view *value)
{
	bool parts = (value->types & (VALUE_object | VALUE_array)) != 0;

	*seen = (struct seen){ .count = parts ? value->count : 0 };
	seen->bits = seen->few;
	if (seen->count > 64 * sizeof seen->few / sizeof seen->few[0]) {
		seen->bits = calloc(seen->count / 64 + 1, sizeof *seen->bits);
		must(seen->bits != NULL);
	}
}

void
seen_close(struct seen *seen)
{
	if (seen->bits != seen->few)
		free(seen->bits);
}

void
seen_all(struct seen *seen)
{
	if (seen != NULL)
		memset(seen->bits, 0xff, (seen->count + 63) / 64 * sizeof *seen->bits);
}

void
seen_join(struct seen *seen, const struct seen *more)
{
	if (seen == NULL)
		return;
	for (size_t i = 0; i < (seen->count + 63) / 64; i++)
		seen->bits[i] |= more->bits[i];
}

/* ---- the walk ---- */

static bool
check_rules(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	switch (value->types & (VALUE_object | VALUE_array | VALUE_string | VALUE_number)) {
	case VALUE_object:
		return node->object == NULL || object_check(run, node, value, place, seen);
	case VALUE_array:
		return node->array == NULL || array_check(run, node, value, place, seen);
	case VALUE_string:
		return node->string == NULL || string_check(run, node, value, place);
	case VALUE_number:
		return node->number == NULL || number_check(run, node, value, place);
	default:
		return true;
	}
}

static inline bool
check_own(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	bool ok = (node->types & (node->strict ? value->strict_types : value->types)) != 0 ||
	          fail_type(run, node, value, place);

	if (ok || run->problems != NULL)
		ok &= check_rules(run, node, value, place, seen);
	if (node->logic != NULL && (ok || run->problems != NULL))
		ok &= logic_check(run, node, value, place, seen);
	return ok;
}

/* unevaluatedItems and unevaluatedProperties see what this schema evaluated, and nothing outside.
 * A keyword that failed has evaluated what it describes, so that nothing is reported twice. */
static bool
check_with_rest(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	struct seen own;

	seen_open(&own, value);
	bool ok = check_own(run, node, value, place, &own);
	if (node->rest_members != NULL && (value->types & VALUE_object) != 0 &&
	    (ok || run->problems != NULL))
		ok &= object_check_rest(run, node, value, place, &own);
	if (node->rest_items != NULL && (value->types & VALUE_array) != 0 &&
	    (ok || run->problems != NULL))
		ok &= array_check_rest(run, node, value, place, &own);
	seen_join(seen, &own);
	seen_close(&own);
	return ok;
}

/* Either the schema goes on without end at one place, or the data is as deep as the schema. */
static bool
too_deep(struct run *run, const struct node *node, const struct place *place)
{
	size_t levels = 0;

	for (; place != NULL; place = place->up)
		levels++;
	if (levels < DEEP_DATA)
		err_set(run->e, ERR_limit_exceeded,
		    "schema: more than %d schemas apply within one another at \"%.100s\"; remove "
		    "the $ref that leads back to itself",
		    MAX_DEPTH, node->where);
	else
		err_set(run->e, ERR_limit_exceeded,
		    "data: more than %d schemas apply within one another, %zu levels deep in the "
		    "data; nest the data less",
		    MAX_DEPTH, levels);
	return run_stop(run);
}

static bool
enter(struct run *run, const struct node *node, const struct view *value, const struct place *place,
    struct seen *seen)
{
	if (run->depth >= MAX_DEPTH)
		return too_deep(run, node, place);
	run->depth++;
	bool ok = node->rest && (value->types & (VALUE_object | VALUE_array)) != 0
	              ? check_with_rest(run, node, value, place, seen)
	              : check_own(run, node, value, place, seen);
	run->depth--;
	return ok;
}

static bool
enter_resource(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct scope *outer = run->scope;
	const struct scope inner = { outer, node->resource };

	if (outer != NULL && outer->resource == node->resource)
		return enter(run, node, value, place, seen);
	run->scope = &inner;
	bool ok = enter(run, node, value, place, seen);
	run->scope = outer;
	return ok;
}

static __attribute__((noinline)) bool
enter_odd(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	if (node->deny)
		return run_fail(run, node, KEYWORD_COUNT, place, value, "nothing here");
	return run->plan->dynamic ? enter_resource(run, node, value, place, seen)
	                          : enter(run, node, value, place, seen);
}

bool
run_enter(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	if (node->odd)
		return enter_odd(run, node, value, place, seen);
	if (run->depth >= MAX_DEPTH)
		return too_deep(run, node, place);
	run->depth++;
	bool ok = check_own(run, node, value, place, seen);
	run->depth--;
	return ok;
}

int
run_check(const struct plan *plan, const struct view *value, const struct run_limits *limits,
    struct problems *problems, struct err *e)
{
	struct run run = {
		.plan = plan, .limits = *limits, .pause = CLOCK_STEPS, .problems = problems, .e = e
	};
	bool ok = run_visit(&run, plan->root, value, NULL, NULL);

	return run.stopped ? -1 : ok;
}
