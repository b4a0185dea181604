/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - a queue, threads that empty it, and a way back into the loop; trusts its callers. */
#include "common/base/work.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum {
	FEW = 4,        /* threads; jobs that wait together are flushed together by the disk */
	TURN_US = 1000, /* for done() callbacks, before other events are handled */
};

struct queue {
	struct work *first, **last;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct queue todo, done; /* under the lock */
	bool ending;             /* likewise */
	pthread_t threads[WORK_MAX_THREADS];
	size_t nthreads;
	int done_fd;
} work = { .lock = PTHREAD_MUTEX_INITIALIZER, .given = PTHREAD_COND_INITIALIZER, .done_fd = -1 };

static void
append(struct queue *q, struct work *w)
{
	w->next = NULL;
	*q->last = w;
	q->last = &w->next;
}

static struct work *
first_of(struct queue *q)
{
	struct work *w = q->first;

	if (w != NULL && (q->first = w->next) == NULL)
		q->last = &q->first;
	return w;
}

/* NULL: no job is left, and none will be added. */
static struct work *
next_todo(void)
{
	while (work.todo.first == NULL && !work.ending)
		pthread_cond_wait(&work.given, &work.lock);
	return first_of(&work.todo);
}

static void *
labour(void *self)
{
	struct work *w;

	pthread_mutex_lock(&work.lock);
	while ((w = next_todo()) != NULL) {
		pthread_mutex_unlock(&work.lock);
		w->run(w);
		pthread_mutex_lock(&work.lock);
		append(&work.done, w);
		must(eventfd_write(work.done_fd, 1) == 0);
	}
	pthread_mutex_unlock(&work.lock);
	return self;
}

/* false: no job is done. */
static bool
hand_back_one(void)
{
	pthread_mutex_lock(&work.lock);

	struct work *w = first_of(&work.done);

	pthread_mutex_unlock(&work.lock);
	if (w != NULL)
		w->done(w);
	return w != NULL;
}

/* done() may take long for a message or a file, so other events get their turn in between. */
static void
on_done(void *self, uint32_t events)
{
	int64_t until_us = loop_now_us() + TURN_US;
	eventfd_t n;

	(void)self;
	(void)events;
	eventfd_read(work.done_fd, &n);
	while (hand_back_one())
		if (loop_now_us() >= until_us) {
			eventfd_write(work.done_fd, 1);
			return;
		}
}

int
work_open(size_t threads, struct err *e)
{
	work.todo.last = &work.todo.first;
	work.done.last = &work.done.first;
	work.ending = false;
	work.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (work.done_fd < 0)
		return err_sys(e, "eventfd");
	if (loop_watch(work.done_fd, EPOLLIN, on_done, NULL, e) < 0)
		return -1;
	for (must(threads <= WORK_MAX_THREADS); work.nthreads < threads; work.nthreads++) {
		errno = pthread_create(&work.threads[work.nthreads], NULL, labour, NULL);
		if (errno != 0)
			return err_sys(e, "pthread_create");
	}
	return 0;
}

void
work_give(struct work *w)
{
	pthread_mutex_lock(&work.lock);
	append(&work.todo, w);
	pthread_cond_signal(&work.given);
	pthread_mutex_unlock(&work.lock);
}

static void
do_now(struct work *w)
{
	w->run(w);
	w->done(w);
}

void
work_do(struct work *w)
{
	struct err e;

	if (work.nthreads == 0 && !work.ending && work_open(FEW, &e) < 0) {
		log_warn("no worker threads: slow work runs in the event loop", LOG_E(&e));
		work_close();
	}
	if (work.nthreads > 0)
		work_give(w);
	else
		do_now(w);
}

void
work_over(struct work *w, size_t bytes)
{
	if (bytes > WORK_BYTES)
		work_do(w);
	else
		do_now(w);
}

void
work_close(void)
{
	pthread_mutex_lock(&work.lock);
	work.ending = true;
	pthread_cond_broadcast(&work.given);
	pthread_mutex_unlock(&work.lock);
	while (work.nthreads > 0)
		pthread_join(work.threads[--work.nthreads], NULL);
	while (hand_back_one())
		;
	if (work.done_fd >= 0) {
		loop_forget(work.done_fd);
		close(take_fd(&work.done_fd));
	}
	work.ending = false;
}
