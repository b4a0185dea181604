/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - a thread, a queue to it and a queue back.
 *
 * The thread touches a job's request, report and error and nothing else of the process; calls, the
 * bus and the loop belong to the main thread, which an eventfd tells that a job is done.
 */
#include "validator/worker.h"

#include "validator/check.h"

#include "common/auto.h"
#include "common/loop.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum {
	STACK_BYTES = 8 << 20, /* CPython's parser recurses 6,000 deep; 512 KiB were too little */
	RETRY_MS = 500,
	TRIM_FROM = 64 << 10, /* bytes of code whose tree is worth being given back */
};

struct job {
	struct job *next;
	struct job *next_open, **link; /* the main thread's, as is the call */
	struct call *call;
	uint64_t turn; /* how many of its principal were open before it */
	struct validate_code request;
	struct validation_report report;
	struct err error;
	int status;
	atomic_bool dropped; /* nobody waits any more */
};

static struct worker_config config;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct job *waiting, *done; /* under the lock, as is ending */
static bool ending;
static int bell = -1;       /* eventfd: something is done */
static struct job *jobs;    /* that were taken and not ended; the main thread's, */
static uint64_t open_count; /* as is how many */

static void
job_free(struct job *job)
{
	message_clear(MSG_validate_code, &job->request);
	message_clear(MSG_validation_report, &job->report);
	free(job);
}

/* ---- the thread ---- */

static struct job *
next_job(void)
{
	pthread_mutex_lock(&lock);
	while (waiting == NULL && !ending)
		pthread_cond_wait(&arrived, &lock);
	struct job *job = waiting;
	if (job != NULL)
		waiting = job->next;
	pthread_mutex_unlock(&lock);
	return job;
}

static void
hand_back(struct job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&lock);
	job->next = done;
	done = job;
	pthread_mutex_unlock(&lock);
	/* A counter that is full has rung already. */
	must(write(bell, &one, sizeof one) == sizeof one || errno == EAGAIN);
}

static void
check(struct job *job)
{
	if (atomic_load(&job->dropped)) {
		job->status = err_set(&job->error, ERR_cancelled, "nobody waits for it");
		return;
	}
	job->status = check_code(&job->request, config.max_code_bytes, &job->report, &job->error);
	/* The tree of 1 MiB of code is hundreds of megabytes, which libc would keep. */
	if (job->request.code.size >= TRIM_FROM)
		malloc_trim(0);
}

static void *
work(void *unused)
{
	struct job *job;

	(void)unused;
	config.enter();
	while ((job = next_job()) != NULL) {
		check(job);
		hand_back(job);
	}
	config.leave();
	return NULL;
}

/* ---- the loop's side ---- */

static void
end_job(struct job *job)
{
	if (job->status == 0)
		call_reply(job->call, &job->report);
	else
		call_fail(job->call, &job->error);
	open_count--;
	*job->link = job->next_open;
	if (job->next_open != NULL)
		job->next_open->link = job->link;
	job_free(job);
}

static void
on_bell(void *self, uint32_t events)
{
	uint64_t rings;

	(void)self;
	(void)events;
	if (read(bell, &rings, sizeof rings) != sizeof rings)
		return;
	pthread_mutex_lock(&lock);
	struct job *list = take_ptr(done);
	pthread_mutex_unlock(&lock);
	while (list != NULL) {
		struct job *job = list;
		list = job->next;
		end_job(job);
	}
}

static void
on_cancel(struct call *call, enum err_code why)
{
	struct job *job = call->self;

	(void)why;
	atomic_store(&job->dropped, true);
}

/* The smallest first: a long parse delays those behind it by its own time only once. */
static bool
goes_before(const struct job *a, const struct job *b)
{
	return a->turn != b->turn ? a->turn < b->turn : a->request.code.size < b->request.code.size;
}

static void
enqueue(struct job *job)
{
	pthread_mutex_lock(&lock);
	struct job **at = &waiting;
	while (*at != NULL && !goes_before(job, *at))
		at = &(*at)->next;
	job->next = *at;
	*at = job;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
}

static uint64_t
open_of(const char *principal)
{
	uint64_t n = 0;

	for (const struct job *job = jobs; job != NULL; job = job->next_open)
		n += strcmp(job->call->principal, principal) == 0;
	return n;
}

static int
check_room(uint64_t mine, struct err *e)
{
	if (open_count < config.max_waiting && mine < config.max_waiting_each)
		return 0;
	if (open_count >= config.max_waiting)
		err_set(e, ERR_queue_full, "%u checks wait already, as many as may",
		    (unsigned)open_count);
	else
		err_set(e, ERR_queue_full, "%u of your checks wait already, as many as may",
		    (unsigned)mine);
	e->retry_ms = RETRY_MS;
	return -1;
}

int
worker_submit(struct call *call, struct validate_code *request, struct err *e)
{
	uint64_t mine = open_of(call->principal);

	if (check_room(mine, e) < 0)
		return -1;
	struct job *job = calloc(1, sizeof *job);
	if (job == NULL)
		return err_sys(e, "queue a check");
	job->call = call;
	job->turn = mine;
	job->next_open = jobs;
	job->link = &jobs;
	if (jobs != NULL)
		jobs->link = &job->next_open;
	jobs = job;
	job->request = *request;
	*request = (struct validate_code){ 0 };
	call->self = job;
	call->on_cancel = on_cancel;
	open_count++;
	enqueue(job);
	return 0;
}

void
worker_load(struct heartbeat *load)
{
	load->running = open_count > 0;
	load->queued = open_count > 0 ? open_count - 1 : 0;
	load->room = config.max_waiting - open_count;
}

static int
start_thread(struct err *e)
{
	pthread_attr_t attr;
	sigset_t all, before;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&thread, &attr, work, NULL);
	int status = errno == 0 ? 0 : err_sys(e, "start the thread that checks");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return status;
}

int
worker_start(const struct worker_config *given, struct err *e)
{
	config = *given;
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell < 0)
		return err_sys(e, "make an eventfd");
	if (loop_watch(bell, EPOLLIN, on_bell, NULL, e) != 0)
		return -1;
	return start_thread(e);
}

void
worker_stop(void)
{
	pthread_mutex_lock(&lock);
	ending = true;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	on_bell(NULL, EPOLLIN);
	loop_forget(bell);
	close(bell);
	bell = -1;
}
