/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_line.c - how many boxes wait in each line.
 *
 * The memory of waiting boxes is bounded, and calls in one language must not take it from those in
 * another: a line that was called for and has no box takes one from the line that holds the most.
 */
#include "executor/run/pool_line.h"

#include "executor/options.h"
#include "executor/runtime.h"

enum {
	FORK_MB = 6, /* memory of a waiting program: the fork of a zygote, */
	NODE_MB = 48,
	OTHER_MB = 12,
	CHECKER_MB = 96, /* Node and the programs that wait beside it */
	CHECKERS = 4,    /* in a line, at most */
};

static uint64_t
cost_mb(const struct line *line)
{
	if (line->checker)
		return CHECKER_MB;
	return line->zygote != 0 ? FORK_MB : line->language == language_node ? NODE_MB : OTHER_MB;
}

static uint64_t
all_mb(const struct lines *lines)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lines->count; i++)
		sum += lines->at[i].count * cost_mb(&lines->at[i]);
	return sum;
}

bool
pool_line_fits(const struct lines *lines, const struct line *line)
{
	return all_mb(lines) + cost_mb(line) <= options.pool_memory_mb;
}

/* A session is made seldom, and then has many runs. */
size_t
pool_line_least(const struct line *line)
{
	size_t all = line->kind == SANDBOX_SESSION ? (options.pool_min + 1) / 2 : options.pool_min;
	size_t least = line->always ? all : line->called_for ? (all + 1) / 2 : 0;

	return least < options.pool_max ? least : options.pool_max;
}

void
pool_line_grow(struct line *line)
{
	size_t want = line->want < 2 ? 4 : line->want * 2;
	size_t most = !line->checker || options.pool_max < CHECKERS ? options.pool_max : CHECKERS;

	line->want = want < most ? want : most;
}

/* Would it fit if each line kept but one of its boxes? */
static bool
fits_after_all(const struct lines *lines, const struct line *wanting)
{
	uint64_t kept = all_mb(lines);

	for (const struct line *line = lines->at; line < lines->at + lines->count; line++)
		if (line->count > 1)
			kept -= cost_mb(line) *
			        (line->ready < line->count ? line->ready : line->count - 1);
	return kept + cost_mb(wanting) <= options.pool_memory_mb;
}

/* Boxes for callers that do not wait yet; below 0: some wait for boxes that nobody makes. */
static int64_t
spare(const struct line *line)
{
	return (int64_t)line->count - (int64_t)line->nwaits;
}

struct line *
pool_line_next(struct lines *lines, int64_t now_ms)
{
	struct line *next = NULL;

	for (struct line *line = lines->at; line < lines->at + lines->count; line++)
		if (spare(line) < (int64_t)line->want && now_ms >= line->resume_ms &&
		    (pool_line_fits(lines, line) ||
			(line->count == 0 && fits_after_all(lines, line))) &&
		    (next == NULL || spare(line) < spare(next)))
			next = line;
	return next;
}

struct line *
pool_line_richest(struct lines *lines)
{
	struct line *most = NULL;

	for (struct line *line = lines->at; line < lines->at + lines->count; line++)
		if (line->count > 1 && line->ready > 0 &&
		    (most == NULL || line->count * cost_mb(line) > most->count * cost_mb(most)))
			most = line;
	return most;
}
