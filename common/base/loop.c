/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - epoll, a heap of timers, and the hooks that run before a wait.
 *
 * Trusts its callers, which are in this process. A callback may forget, close and watch
 * descriptors, and set and unset timers, at any time. Each watch has a unique number, so an event
 * of a descriptor that was forgotten in the same batch is dropped.
 */
#include "common/base/loop.h"

#include "common/base/auto.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>

enum {
	BATCH = 64,      /* events of one wait */
	MAX_SOURCES = 8, /* of loop_before_wait */
};

struct watch {
	void (*ready)(void *self, uint32_t events); /* NULL: not watched */
	void *self;
	uint32_t number;
};

struct timer {
	void (*fire)(void *self); /* NULL: free */
	void *self;
	int64_t due_us;
	uint64_t order; /* increases; distinguishes timers that use the same slot */
	size_t at;      /* in heap; of a free slot: the next free slot */
};

static struct {
	int epoll;
	bool stop;
	struct watch *watches; /* by descriptor */
	size_t nwatches;
	uint32_t numbers;
	struct timer *timers;
	size_t ntimers, free; /* free: first free slot; ntimers if there is none */
	size_t *heap, pending;
	uint64_t orders;
	struct {
		bool (*drain)(void *self);
		void *self;
	} sources[MAX_SOURCES];
	size_t nsources;
} loop = { .epoll = -1 };

int
loop_open(struct err *e)
{
	loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop.epoll < 0 ? err_sys(e, "epoll_create1") : 0;
}

void
loop_close(void)
{
	if (loop.epoll >= 0)
		close(loop.epoll);
	free(loop.watches);
	free(loop.timers);
	free(loop.heap);
	loop = (typeof(loop)){ .epoll = -1 };
}

int64_t
loop_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t
loop_now_ms(void)
{
	return loop_now_us() / 1000;
}

/* ---- descriptors ---- */

static int
room_for(int fd, struct err *e)
{
	size_t want = loop.nwatches == 0 ? 64 : loop.nwatches;

	if ((size_t)fd < loop.nwatches)
		return 0;
	while (want <= (size_t)fd)
		want *= 2;
	struct watch *grown = reallocarray(loop.watches, want, sizeof *grown);
	if (grown == NULL)
		return err_sys(e, "watch descriptor %d", fd);
	for (size_t i = loop.nwatches; i < want; i++)
		grown[i] = (struct watch){ 0 };
	loop.watches = grown;
	loop.nwatches = want;
	return 0;
}

static int
control(int operation, int fd, uint32_t events, struct err *e)
{
	struct epoll_event event = { .events = events };

	event.data.u64 = (uint64_t)loop.watches[fd].number << 32 | (uint32_t)fd;
	if (epoll_ctl(loop.epoll, operation, fd, &event) < 0)
		return err_sys(e, "watch descriptor %d", fd);
	return 0;
}

int
loop_watch(
    int fd, uint32_t events, void (*ready)(void *self, uint32_t events), void *self, struct err *e)
{
	must(fd >= 0 && ready != NULL);
	if (room_for(fd, e) < 0)
		return -1;
	if (loop.watches[fd].ready != NULL)
		return err_set(e, ERR_internal, "descriptor %d is watched already", fd);
	loop.watches[fd] = (struct watch){ ready, self, ++loop.numbers };
	if (control(EPOLL_CTL_ADD, fd, events, e) == 0)
		return 0;
	loop.watches[fd].ready = NULL;
	return -1;
}

int
loop_change(int fd, uint32_t events, struct err *e)
{
	must(fd >= 0 && (size_t)fd < loop.nwatches && loop.watches[fd].ready != NULL);
	return control(EPOLL_CTL_MOD, fd, events, e);
}

void
loop_forget(int fd)
{
	if (fd < 0 || (size_t)fd >= loop.nwatches || loop.watches[fd].ready == NULL)
		return;
	loop.watches[fd].ready = NULL;
	epoll_ctl(loop.epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void
dispatch(const struct epoll_event *event)
{
	uint32_t fd = (uint32_t)event->data.u64;
	struct watch w = loop.watches[fd];

	if (w.ready != NULL && w.number == event->data.u64 >> 32)
		w.ready(w.self, event->events);
}

/* ---- timers: a binary heap of slots; each slot has its index in the heap ---- */

static bool
earlier(size_t a, size_t b)
{
	const struct timer *x = &loop.timers[a], *y = &loop.timers[b];

	return x->due_us != y->due_us ? x->due_us < y->due_us : x->order < y->order;
}

static void
put(size_t at, size_t slot)
{
	loop.heap[at] = slot;
	loop.timers[slot].at = at;
}

static void
settle(size_t at, size_t slot)
{
	while (at > 0 && earlier(slot, loop.heap[(at - 1) / 2])) {
		put(at, loop.heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (size_t child = 2 * at + 1; child < loop.pending; child = 2 * at + 1) {
		if (child + 1 < loop.pending && earlier(loop.heap[child + 1], loop.heap[child]))
			child++;
		if (!earlier(loop.heap[child], slot))
			break;
		put(at, loop.heap[child]);
		at = child;
	}
	put(at, slot);
}

static void
more_timers(void)
{
	size_t want = loop.ntimers == 0 ? 64 : loop.ntimers * 2;
	struct timer *timers = reallocarray(loop.timers, want, sizeof *timers);
	size_t *heap = reallocarray(loop.heap, want, sizeof *heap);

	must(timers != NULL && heap != NULL);
	for (size_t i = loop.ntimers; i < want; i++)
		timers[i] = (struct timer){ .at = i + 1 };
	loop.timers = timers;
	loop.heap = heap;
	loop.free = loop.ntimers;
	loop.ntimers = want;
}

/* An id is the order above the slot: 2^24 timers at once, 2^40 in the life of the process. */
uint64_t
loop_after(int64_t ms, void (*fire)(void *self), void *self)
{
	must(fire != NULL);
	if (loop.free == loop.ntimers)
		more_timers();

	size_t slot = loop.free;
	struct timer *t = &loop.timers[slot];

	loop.free = t->at;
	*t = (struct timer){ fire, self, loop_now_us() + (ms < 0 ? 0 : ms) * 1000, ++loop.orders,
		0 };
	settle(loop.pending++, slot);
	return t->order << 24 | slot;
}

static void
remove_timer(size_t slot)
{
	struct timer *t = &loop.timers[slot];
	size_t last = loop.heap[--loop.pending];

	if (last != slot)
		settle(t->at, last);
	t->fire = NULL;
	t->at = loop.free;
	loop.free = slot;
}

void
loop_unset(uint64_t id)
{
	size_t slot = id & 0xffffff;

	if (id == 0 || slot >= loop.ntimers)
		return;
	if (loop.timers[slot].fire != NULL && loop.timers[slot].order == id >> 24)
		remove_timer(slot);
}

/* A timer that is set by a timer that fires now waits for the next turn, so every turn ends. */
static void
fire_due(void)
{
	uint64_t newest = loop.orders;
	int64_t now = loop_now_us();

	while (loop.pending > 0 && !loop.stop) {
		struct timer t = loop.timers[loop.heap[0]];

		if (t.due_us > now || t.order > newest)
			return;
		remove_timer(loop.heap[0]);
		t.fire(t.self);
	}
}

/* ---- the turn ---- */

int
loop_before_wait(bool (*drain)(void *self), void *self, struct err *e)
{
	for (size_t i = 0; i < loop.nsources; i++)
		if (loop.sources[i].drain == drain && loop.sources[i].self == self)
			return 0;
	if (loop.nsources == MAX_SOURCES)
		return err_set(e, ERR_internal, "more than %d sources in the loop", MAX_SOURCES);
	loop.sources[loop.nsources].drain = drain;
	loop.sources[loop.nsources++].self = self;
	return 0;
}

static bool
drain_sources(void)
{
	bool more = false;

	for (size_t i = 0; i < loop.nsources; i++)
		more |= loop.sources[i].drain(loop.sources[i].self);
	return more;
}

static int
wait_ms(void)
{
	if (loop.stop)
		return 0;
	if (loop.pending == 0)
		return -1;
	int64_t left_us = loop.timers[loop.heap[0]].due_us - loop_now_us();
	if (left_us <= 0)
		return 0;
	return left_us > 3600000000 ? 3600000 : (int)((left_us + 999) / 1000);
}

/* Timers before sources: a send by a timer may consume an edge, and only a drain would notice
 * that. */
int
loop_run(struct err *e)
{
	struct epoll_event events[BATCH];

	for (loop.stop = false; !loop.stop;) {
		fire_due();
		bool more = drain_sources();
		int n = epoll_wait(loop.epoll, events, BATCH, more ? 0 : wait_ms());

		if (n < 0 && errno != EINTR)
			return err_sys(e, "epoll_wait");
		for (int i = 0; i < n && !loop.stop; i++)
			dispatch(&events[i]);
	}
	return 0;
}

void
loop_stop(void)
{
	loop.stop = true;
}

int
loop_ends(struct err *e)
{
	struct sigaction hangup;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	/* A blocked signal is delivered to the descriptor even if it is ignored. */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&ends, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &ends, NULL) < 0)
		return err_sys(e, "block signals");

	int fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);

	return fd < 0 ? err_sys(e, "signalfd") : fd;
}
