/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_kill.c - kills boxes, programs and file helpers, no faster than the kernel can free their
 * seccomp programs (limits/pace.h).  Those that must wait are queued, oldest first.
 *
 * Trusts the kernel to end a killed process eventually.
 */
#include "executor/builder/process.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/answer.h"
#include "executor/builder/limits/pace.h"
#include "executor/builder/processes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

enum {
	KILL_MS = 5000,   /* time for the kernel to end a killed process */
	OF_CONTAINER = 4, /* seccomp programs of a container: of its runtime, init and guest */
};

static struct {
	struct pace pace;
	struct process *first, **last; /* queue of processes that wait */
	uint64_t timer;
} kills = { .last = &kills.first };

/* With a box its programs end. */
static unsigned
filters_of(const struct process *p)
{
	unsigned n = p->kind->filters + p->programs;

	if (p->order.container != 0)
		n *= OF_CONTAINER;
	return n < PACE_MOST ? n : PACE_MOST;
}

void
process_kill_now(struct process *p)
{
	syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
}

/* A caller that waits for the end of a run need not wait until the kernel has freed the memory. */
static void
tell_killed(struct process *p)
{
	struct answer answer;

	use_note(&p->use, process_group(p), &p->answer);
	p->told = true;
	answer = p->answer;
	answer.kind = ANSWER_KILLED;
	if (p->kind->tells_kill)
		answer_send(&answer, NULL, 0);
}

static bool
try_kill(struct process *p)
{
	unsigned n = filters_of(p);

	if (!pace_begin(&kills.pace, n, loop_now_us()))
		return false;
	p->frees = n;
	p->state = PROCESS_KILLED;
	if (p->asks && p->kind->sample != NULL)
		p->kind->sample(p);
	process_kill_now(p);
	if (p->asks)
		tell_killed(p);
	return true;
}

static void kill_waiting(void *self);

static void
wait_for_turn(void)
{
	int64_t us = pace_wait_us(&kills.pace, loop_now_us());

	if (kills.timer == 0 && kills.first != NULL)
		kills.timer = loop_after(us / 1000 + 1, kill_waiting, NULL);
}

static void
unlink_waiting(struct process *p)
{
	struct process **at = &kills.first;

	while (*at != p)
		at = &(*at)->later;
	*at = take_ptr(p->later);
	if (*at == NULL)
		kills.last = at;
}

static void
kill_waiting(void *self)
{
	struct process *p;

	(void)self;
	kills.timer = 0;
	while ((p = kills.first) != NULL && try_kill(p))
		unlink_waiting(p);
	wait_for_turn();
}

void
process_kill(struct process *p)
{
	p->doomed = true;
	if (p->pidfd < 0 || p->state != PROCESS_LIVES)
		return;
	if (kills.first == NULL && try_kill(p))
		return;
	p->state = PROCESS_WAITS;
	*kills.last = p;
	kills.last = &p->later;
	wait_for_turn();
}

void
process_kill_asked(struct process *p)
{
	p->asks = true;
	if (p->state == PROCESS_KILLED)
		tell_killed(p);
	else
		process_kill(p);
}

/* A program that ended with its box was counted with the box. */
void
process_kill_over(struct process *p)
{
	bool killed = p->state == PROCESS_KILLED;
	bool of_box = p->box != NULL && p->box->state == PROCESS_KILLED;

	if (p->state == PROCESS_WAITS)
		unlink_waiting(p);
	if (!killed && !of_box && p->pid > 0)
		p->frees = p->kind->filters;
	pace_end(&kills.pace, p->frees, killed, loop_now_us());
	p->frees = 0;
}

/* ---- all of it, without the loop ---- */

bool
process_kill_await(const struct process *p)
{
	struct pollfd end = { .fd = p->pidfd, .events = POLLIN };
	int n;

	do
		n = poll(&end, 1, KILL_MS);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Waits for the ends of killed processes, and then until another kill is allowed. */
static void
make_room(void)
{
	struct process *p;

	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;) {
		if (p->state != PROCESS_KILLED || p->frees == 0)
			continue;
		process_kill_await(p);
		pace_end(&kills.pace, p->frees, true, loop_now_us());
		p->frees = 0;
	}

	int64_t us = pace_wait_us(&kills.pace, loop_now_us());
	const struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
}

void
process_kill_all(void)
{
	struct process *p;

	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;)
		while (
		    p->box == NULL && p->pidfd >= 0 && p->state != PROCESS_KILLED && !try_kill(p))
			make_room();
}
