/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_kill.c - kills boxes, programs and file helpers, no faster than the kernel can free their
 * seccomp programs (limits/pace.h).  Those that must wait are queued, oldest first.
 *
 * Trusts the kernel to end a killed process eventually.
 */
#include "executor/builder/life.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/limits/pace.h"
#include "executor/builder/lives.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	KILL_MS = 5000,   /* time for the kernel to end a killed process */
	OF_CONTAINER = 4, /* seccomp programs of a container: of its runtime, init and guest */
};

static struct {
	struct pace pace;
	struct life *first, **last; /* queue of objects that wait */
	uint64_t timer;
} kills = { .last = &kills.first };

static unsigned
programs_of(const struct life *life)
{
	unsigned n = life->order.kind == ORDER_BOX ? life->programs : 1;

	if (life->order.container != 0)
		n *= OF_CONTAINER;
	return n < PACE_MOST ? n : PACE_MOST;
}

void
life_kill_now(struct life *life)
{
	syscall(SYS_pidfd_send_signal, life->pidfd, SIGKILL, NULL, 0);
}

static bool
try_kill(struct life *life)
{
	unsigned n = programs_of(life);

	if (!pace_begin(&kills.pace, n, loop_now_us()))
		return false;
	life->frees = n;
	life->end = LIFE_KILLED;
	if (life->asks)
		guard_count(life);
	life_kill_now(life);
	if (life->asks)
		life_tell_killed(life);
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
unlink_waiting(struct life *life)
{
	struct life **at = &kills.first;

	while (*at != life)
		at = &(*at)->later;
	*at = take_ptr(life->later);
	if (*at == NULL)
		kills.last = at;
}

static void
kill_waiting(void *self)
{
	struct life *life;

	(void)self;
	kills.timer = 0;
	while ((life = kills.first) != NULL && try_kill(life))
		unlink_waiting(life);
	wait_for_turn();
}

void
life_kill(struct life *life)
{
	life->doomed = true;
	if (life->pidfd < 0 || life->end != LIFE_LIVES)
		return;
	if (kills.first == NULL && try_kill(life))
		return;
	life->end = LIFE_WAITS;
	*kills.last = life;
	kills.last = &life->later;
	wait_for_turn();
}

/* A program that ended with its box was counted with the box. */
void
life_kill_over(struct life *life)
{
	bool killed = life->end == LIFE_KILLED;
	bool of_box = life->box != NULL && life->box->end == LIFE_KILLED;

	if (life->end == LIFE_WAITS)
		unlink_waiting(life);
	if (!killed && !of_box && life->pid > 0)
		life->frees = life->order.kind == ORDER_BOX ? 0 : 1;
	pace_end(&kills.pace, life->frees, killed, loop_now_us());
	life->frees = 0;
}

/* ---- all of it, without the loop ---- */

bool
life_kill_await(const struct life *life)
{
	struct pollfd end = { .fd = life->pidfd, .events = POLLIN };
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
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++) {
		struct life *life = life_of(id);

		if (life == NULL || life->end != LIFE_KILLED || life->frees == 0)
			continue;
		life_kill_await(life);
		pace_end(&kills.pace, life->frees, true, loop_now_us());
		life->frees = 0;
	}

	int64_t us = pace_wait_us(&kills.pace, loop_now_us());
	const struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
}

void
life_kill_all(void)
{
	for (uint32_t id = 1; id <= ORDER_MAX_LIVING; id++) {
		struct life *life = life_of(id);

		if (life == NULL || life->order.kind == ORDER_PROGRAM || life->pidfd < 0)
			continue;
		while (life->end != LIFE_KILLED && !try_kill(life))
			make_room();
	}
}
