/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - a queue, threads that empty it, and a way back into the loop; trusts its callers. */
#include "common/work.h"

#include "common/auto.h"
#include "common/loop.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

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

/* NULL: there is none left, and none will come. */
static struct work *
next_todo(void)
{
	while (work.todo.first == NULL && !work.ending)
		pthread_cond_wait(&work.given, &work.lock);

	struct work *w = work.todo.first;

	if (w != NULL && (work.todo.first = w->next) == NULL)
		work.todo.last = &work.todo.first;
	return w;
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

static void
hand_back(void)
{
	pthread_mutex_lock(&work.lock);

	struct work *w = work.done.first;

	work.done = (struct queue){ NULL, &work.done.first };
	pthread_mutex_unlock(&work.lock);
	for (struct work *next; w != NULL; w = next) {
		next = w->next;
		w->done(w);
	}
}

static void
on_done(void *self, uint32_t events)
{
	eventfd_t n;

	(void)self;
	(void)events;
	eventfd_read(work.done_fd, &n);
	hand_back();
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

void
work_close(void)
{
	pthread_mutex_lock(&work.lock);
	work.ending = true;
	pthread_cond_broadcast(&work.given);
	pthread_mutex_unlock(&work.lock);
	while (work.nthreads > 0)
		pthread_join(work.threads[--work.nthreads], NULL);
	hand_back();
	if (work.done_fd >= 0) {
		loop_forget(work.done_fd);
		close(take_fd(&work.done_fd));
	}
}
