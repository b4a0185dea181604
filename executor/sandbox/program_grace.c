/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_grace.c - waits for what other processes of a run still write when the run has ended.
 *
 * After a program its pipes tell: they are at their end when nobody can write to them.  After a
 * statement, whose interpreter keeps the pipes, the number of processes in the box tells.  A
 * process that lives longer than the grace is no reason to wait: servers do.  (Other sandboxes use
 * the same time.)
 *
 * Trusts nothing: a program can at most use up the grace.
 */
#include "executor/sandbox/program.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

enum {
	GRACE_MS = 100,
	LOOK_MS = 2, /* between two looks */
};

static void wait_for_others(struct program *p, bool there);

static bool
others_write(struct program *p)
{
	bool out = output_is_open(&p->out), err = output_is_open(&p->err);

	return out || err;
}

/* false: the builder cannot be asked.  Its answer goes to program_box_used(). */
static bool
ask_count(struct program *p)
{
	p->asked = !p->box->told && builder_request_count(p->box->builder_request);
	return p->asked;
}

static void
look_again(void *self)
{
	struct program *p = self;

	p->timer = 0;
	if (!p->over)
		wait_for_others(p, others_write(p));
	else if (!ask_count(p))
		take_ptr(p->go_on)(p);
}

/* There are processes that may write what belongs to the run: looks again, or else goes on. */
static void
wait_for_others(struct program *p, bool there)
{
	p->survived = there;
	if (!there || loop_now_us() >= p->ended_us + (int64_t)GRACE_MS * 1000) {
		take_ptr(p->go_on)(p);
		return;
	}
	output_watch(&p->out);
	output_watch(&p->err);
	p->timer = loop_after(LOOK_MS, look_again, p);
}

void
program_await_writers(struct program *p, void (*go_on)(struct program *))
{
	program_stop_clocks(p);
	p->go_on = go_on;
	wait_for_others(p, others_write(p));
}

bool
program_await_processes(struct program *p, void (*go_on)(struct program *))
{
	p->go_on = go_on;
	return ask_count(p);
}

void
program_counted(struct program *p)
{
	bool grew = box_grew(p->box);

	box_count(p->box);
	wait_for_others(p, grew);
}
