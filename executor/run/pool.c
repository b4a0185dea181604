/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - decides how many boxes wait, and when they are made.
 *
 * Theory of operation.  There is a bucket of waiting boxes for each language, and for Python one
 * for each zygote, which is also one for each environment; separately for runs and for sessions,
 * whose box does not end with a program.  A call that finds its bucket empty doubles the bucket's
 * size; some time without calls halves it. Boxes are made when a call was answered, or shortly
 * after one was taken if the call takes longer: not before the call that took the box has started
 * work, and only a few at a time, so that a call with an empty bucket does not wait for them at the
 * builder.
 *
 * A call that finds no box but some in the making waits for the first of them, which is ready
 * earlier than a box ordered after them.
 *
 * The buckets of checkers hold boxes of Node in which a checker is loaded and has rehearsed: a box
 * runs the checker's preparation as a statement before it counts as ready.
 *
 * A box that dies in its bucket is replaced, with a growing delay until one lives.
 */
#include "executor/run/pool.h"

#include "executor/environment.h"
#include "executor/options.h"
#include "executor/run/check/checker.h"
#include "executor/run/limits.h"
#include "executor/run/pool_line.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <string.h>

enum {
	AT_ONCE = 4,        /* made at the same time */
	LATER_MS = 3,       /* after one was taken, if its call is not answered before */
	CHECKED_MS = 25,    /* the same of a checker, whose work ends within that */
	SOON_MS = 1,        /* after that: the answer still passes through three processes */
	EARLY_MS = 3000,    /* after the start: environments are called for */
	IDLE_MS = 5000,     /* without a call: a line is made shorter */
	FORGET_MS = 300000, /* without a call: a line is emptied */
	BACK_OFF_MS = 100,  /* after a box died; doubled each time */
	MAX_BACK_OFF = 8,   /* times */
};

static struct {
	struct lines lines;
	uint64_t timer, tick, early;
	bool stopped;
	struct pool_counts counts;
} pool;

static void fill(void *);
static void tick(void *);

static void
stay_awake(void)
{
	if (pool.tick == 0 && !pool.stopped)
		pool.tick = loop_after(IDLE_MS / 5, tick, NULL);
}

/* ---- slots ---- */

static void
count(struct line *line, struct slot *b, bool ready)
{
	line->ready += ready;
	line->ready -= b->ready;
	pool.counts.making -= !b->ready && ready;
	pool.counts.waiting = pool.counts.waiting + ready - b->ready;
	b->ready = ready;
}

/* Removes the slot from its line; the caller owns what it held. */
static void
take_out(struct slot *b)
{
	struct line *line = b->line;
	struct slot **at = &line->slots;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	line->count--;
	if (b->ready)
		count(line, b, false);
	else
		pool.counts.making--;
	free(b);
}

static void
give_up(struct slot *b)
{
	struct sandbox *sandbox = b->sandbox;
	struct workspace *workspace = b->workspace;

	take_out(b);
	sandbox_wipe(sandbox, workspace);
}

/* ---- waiting callers ---- */

void
pool_leave(struct pool_wait *wait)
{
	struct line *line = take_ptr(wait->line);
	struct pool_wait **at;

	if (line == NULL)
		return;
	for (at = &line->waits; *at != wait; at = &(*at)->next)
		;
	*at = wait->next;
	line->nwaits--;
}

static void
serve(struct line *line, struct workspace *workspace, struct sandbox *sandbox)
{
	struct pool_wait *wait = line->waits;

	must(wait != NULL);
	pool_leave(wait);
	wait->come(wait->self, workspace, sandbox);
}

/* Turns callers away that exceed the number of boxes in the making. */
static void
turn_away(struct line *line)
{
	while (line->nwaits > line->count - line->ready)
		serve(line, NULL, NULL);
}

/* A box that became ready goes to the first waiting caller. */
static void
hand_over(struct slot *b)
{
	struct line *line = b->line;
	struct workspace *workspace = b->workspace;
	struct sandbox *sandbox = b->sandbox;

	sandbox_watch(sandbox, NULL, NULL);
	take_out(b);
	pool.counts.taken++;
	serve(line, workspace, sandbox);
}

static void
fail(struct slot *b, const struct err *e)
{
	struct line *line = b->line;

	if (line->failures == 0)
		log_warn("a pooled box ended", LOG_E(e));
	if (line->failures < MAX_BACK_OFF)
		line->failures++;
	line->resume_ms = loop_now_ms() + (BACK_OFF_MS << (line->failures - 1));
	give_up(b);
	turn_away(line);
	stay_awake();
}

static void
becomes_ready(struct slot *b)
{
	b->line->failures = 0;
	count(b->line, b, true);
	if (b->line->waits != NULL)
		hand_over(b);
	fill(NULL);
}

static void
prepared(void *self, struct box_end *end, const struct err *e)
{
	struct slot *b = self;
	struct err why;

	b->prepares = false;
	if (pool.stopped)
		give_up(b);
	else if (end == NULL)
		fail(b, e);
	else if (end->how == BOX_EXITED && end->exit_code == 0)
		becomes_ready(b);
	else {
		err_set(&why, ERR_internal, "the preparation of a checker failed");
		fail(b, &why);
	}
}

static void
prepare(struct slot *b)
{
	static const struct sandbox_events events = { NULL, prepared };
	struct sandbox_code code;
	struct err why;

	must(checker_preparation(b->line->checks, &code));
	b->prepares = true;
	if (sandbox_run(b->sandbox, &code, &events, b, &why) == 0)
		return;
	b->prepares = false;
	fail(b, &why);
}

static void
changed(void *self, const struct err *e)
{
	struct slot *b = self;

	if (b->prepares)
		return; /* prepared() follows */
	if (e != NULL)
		fail(b, e);
	else if (b->line->checker && !b->ready)
		prepare(b);
	else
		becomes_ready(b);
}

static void
workspace_ready(void *self, struct workspace *workspace, const struct err *e)
{
	struct slot *b = self;
	struct err why;

	b->workspace = workspace;
	if (workspace == NULL) {
		fail(b, e);
		return;
	}

	struct box_limits limits = limits_default.box;

	limits.environment = b->line->environment;
	b->sandbox = sandbox_new(b->line->kind, workspace, &limits);
	must(b->sandbox != NULL);
	sandbox_watch(b->sandbox, changed, b);
	if (sandbox_prepare(b->sandbox, b->line->language, b->line->checker ? 0 : b->line->zygote,
		b->line->waits != NULL || queue_counts()->waiting > 0, &why) < 0)
		fail(b, &why);
}

static void
add_slot(struct line *line)
{
	struct slot *b = calloc(1, sizeof *b);

	must(b != NULL);
	*b = (struct slot){ .next = line->slots, .line = line };
	line->slots = b;
	line->count++;
	pool.counts.making++;
	workspace_make(&limits_default.room, workspace_ready, b);
}

/* ---- how many ---- */

static void
give_up_one(struct line *line)
{
	struct slot *b = line->slots;

	while (b != NULL && !b->ready)
		b = b->next;
	must(b != NULL);
	give_up(b);
}

static void
make_room(const struct line *line)
{
	while (!pool_line_fits(&pool.lines, line))
		give_up_one(pool_line_richest(&pool.lines));
}

static void
fill(void *self)
{
	int64_t now = loop_now_ms();
	struct line *line;

	(void)self;
	loop_unset(pool.timer);
	pool.timer = 0;
	while (!pool.stopped && pool.counts.making < AT_ONCE &&
	       (line = pool_line_next(&pool.lines, now)) != NULL) {
		make_room(line);
		add_slot(line);
	}
	stay_awake();
}

static void
shorten(struct line *line, int64_t now)
{
	if (now - line->taken_ms < IDLE_MS)
		return;
	if (now - line->taken_ms >= FORGET_MS)
		line->called_for = false;
	line->want =
	    line->want / 2 > pool_line_least(line) ? line->want / 2 : pool_line_least(line);
	for (struct slot *b = line->slots, *next; b != NULL; b = next) {
		next = b->next;
		if (b->ready && line->count > line->want)
			give_up(b);
	}
}

/* Stops itself when nothing is to be done before the next call. */
static void
tick(void *self)
{
	int64_t now = loop_now_ms();
	bool again = false;

	(void)self;
	pool.tick = 0;
	for (size_t i = 0; i < pool.lines.count; i++) {
		struct line *line = &pool.lines.at[i];

		shorten(line, now);
		again = again || line->called_for || line->count != line->want;
	}
	if (again)
		fill(NULL);
}

/* ---- taking ---- */

/* Are these the limits of the prepared boxes?  Time and output belong to the run, not the box. */
static bool
is_default(const struct limits *limits)
{
	struct limits same = *limits;

	same.box.wall_ms = limits_default.box.wall_ms;
	same.timed = limits_default.timed;
	same.box.cpu_ms = limits_default.box.cpu_ms;
	same.box.output_bytes = limits_default.box.output_bytes;
	same.box.environment = limits_default.box.environment;
	return memcmp(&same, &limits_default, sizeof same) == 0;
}

/* NULL: no box for this is prepared. */
static struct line *
find(enum sandbox_kind kind, unsigned language, uint32_t zygote, const struct limits *limits)
{
	if (!is_default(limits))
		return NULL;
	for (struct line *line = pool.lines.at; line < pool.lines.at + pool.lines.count; line++)
		if (line->kind == kind && line->language == language && line->zygote == zygote &&
		    line->environment == limits->box.environment)
			return line;
	return NULL;
}

static struct slot *
first_ready(const struct line *line)
{
	for (struct slot *b = line->slots; b != NULL; b = b->next)
		if (b->ready && sandbox_is_ready(b->sandbox, line->language))
			return b;
	return NULL;
}

bool
pool_take(enum sandbox_kind kind, unsigned language, uint32_t zygote, const struct limits *limits,
    struct workspace **workspace, struct sandbox **sandbox)
{
	struct line *line = find(kind, language, zygote, limits);
	struct slot *b;

	if (line == NULL)
		return false;
	line->taken_ms = loop_now_ms();
	line->called_for = true;
	if (pool.timer == 0)
		pool.timer = loop_after(line->checker ? CHECKED_MS : LATER_MS, fill, NULL);
	b = first_ready(line);
	if (b == NULL) {
		pool.counts.missed++;
		pool_line_grow(line);
		return false;
	}
	pool.counts.taken++;
	*workspace = b->workspace;
	*sandbox = b->sandbox;
	sandbox_watch(b->sandbox, NULL, NULL);
	take_out(b);
	if (line->ready * 4 < line->want)
		pool_line_grow(line);
	return true;
}

bool
pool_wait(enum sandbox_kind kind, unsigned language, uint32_t zygote, const struct limits *limits,
    struct pool_wait *wait)
{
	struct line *line = find(kind, language, zygote, limits);
	struct pool_wait **last;

	if (line == NULL || line->nwaits >= line->count - line->ready)
		return false;
	for (last = &line->waits; *last != NULL; last = &(*last)->next)
		;
	wait->line = line;
	wait->next = NULL;
	*last = wait;
	line->nwaits++;
	return true;
}

static bool
is_short(void)
{
	for (size_t i = 0; i < pool.lines.count; i++)
		if (pool.lines.at[i].ready * 2 < pool.lines.at[i].want)
			return true;
	return false;
}

void
pool_refill(void)
{
	if (pool.timer == 0)
		return;
	if (is_short()) {
		fill(NULL);
		return;
	}
	loop_unset(pool.timer);
	pool.timer = loop_after(SOON_MS, fill, NULL);
}

const struct pool_counts *
pool_counts(void)
{
	return &pool.counts;
}

/* ---- its life ---- */

static void
add_line(enum sandbox_kind kind, unsigned language, uint32_t zygote, uint64_t environment)
{
	struct line *line = &pool.lines.at[pool.lines.count++];

	must(pool.lines.count <= COUNT(pool.lines.at));
	*line = (struct line){
		.kind = kind,
		.language = language,
		.zygote = zygote,
		.environment = environment,
		.always = zygote == POOL_BASIC,
	};
	line->want = pool_line_least(line);
}

static void
add_lines(enum sandbox_kind kind)
{
	add_line(kind, language_python, POOL_BASIC, 0);
	add_line(kind, language_python, POOL_SCIENCE, 0);
	for (size_t i = 1; i < environment_count(); i++)
		add_line(kind, language_python, pool_zygote(language_python, "", i), i);
	for (size_t i = 0; i < runtime_count(); i++)
		if (i != language_python && runtime_at(i)->present)
			add_line(kind, (unsigned)i, 0, 0);
}

static void
add_checkers(void)
{
	struct sandbox_code code;

	for (unsigned i = 0; i < runtime_count() && runtime_at(language_node)->present; i++)
		if (checker_preparation(i, &code)) {
			add_line(SANDBOX_SESSION, language_node, POOL_CHECKER + i, 0);
			pool.lines.at[pool.lines.count - 1].checker = true;
			pool.lines.at[pool.lines.count - 1].checks = i;
		}
}

/* Their zygotes import large libraries, for seconds, which the first caller need not wait for. */
static void
call_for_environments(void *self)
{
	(void)self;
	pool.early = 0;
	for (size_t i = 0; i < pool.lines.count; i++) {
		struct line *line = &pool.lines.at[i];

		if (line->environment == 0 || line->kind != SANDBOX_ALONE)
			continue;
		line->called_for = true;
		line->taken_ms = loop_now_ms();
		line->want = pool_line_least(line);
	}
	fill(NULL);
}

void
pool_start(void)
{
	pool.lines.count = 0;
	pool.stopped = !options.warm || options.pool_max == 0;
	if (pool.stopped)
		return;
	add_lines(SANDBOX_ALONE);
	add_lines(SANDBOX_SESSION);
	add_checkers();
	if (environment_count() > 1)
		pool.early = loop_after(EARLY_MS, call_for_environments, NULL);
	fill(NULL);
}

void
pool_stop(void)
{
	pool.stopped = true;
	loop_unset(pool.timer);
	loop_unset(pool.tick);
	loop_unset(pool.early);
	pool.timer = pool.tick = pool.early = 0;
	for (size_t i = 0; i < pool.lines.count; i++) {
		while (pool.lines.at[i].waits != NULL)
			pool_leave(pool.lines.at[i].waits);
		for (struct slot *b = pool.lines.at[i].slots, *next; b != NULL; b = next) {
			next = b->next;
			if (b->prepares)
				sandbox_kill(b->sandbox);
			else if (b->sandbox != NULL)
				give_up(b);
		}
	}
}
