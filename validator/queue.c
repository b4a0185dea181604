/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - schedules checks on the worker processes; trusts no client to send little. */
#include "validator/queue.h"

#include "common/base/auto.h"

#include <sched.h>
#include <string.h>

enum {
	MAX_WORKERS = 64,
	SMALL_BYTES = 16 << 10, /* takes less than 0.2 s, whatever the code */
	MAX_PASSED = 8,         /* later jobs that may overtake one job */
	RETRY_MS = 500,
};

struct job {
	struct job *next;
	struct job *next_open, **link;
	struct call *call;
	uint64_t turn; /* how many jobs of its principal were open before it */
	unsigned passed;
	uint64_t bytes;
	void *request; /* messages[call->message] */
};

/* A worker process and its current job. */
struct file_queue {
	struct worker *worker;
	struct job *job;
	bool gone;
};

static struct {
	struct queue_config config;
	struct file_queue file_queues[MAX_WORKERS];
	size_t count;
	struct job *waiting;
	struct job *jobs; /* jobs that are not ended */
	uint64_t open;    /* their number */
} queue;

/* ---- end of a job ---- */

static void
end_job(struct job *job, void *reply, const struct err *e)
{
	enum msg_id id = job->call->message;

	if (reply != NULL)
		call_reply(job->call, reply);
	else
		call_fail(job->call, e);
	queue.open--;
	*job->link = job->next_open;
	if (job->next_open != NULL)
		job->next_open->link = job->link;
	message_clear(id, job->request);
	free(job->request);
	free(job);
}

/* ---- scheduling ---- */

static bool
is_large(const struct job *job)
{
	return job->bytes > SMALL_BYTES;
}

static bool
goes_before(const struct job *a, const struct job *b)
{
	return a->turn != b->turn ? a->turn < b->turn : a->bytes < b->bytes;
}

static void
enqueue(struct job *job)
{
	struct job **at = &queue.waiting;

	/* No job may overtake one that was overtaken so often, or the jobs before that one. */
	for (struct job **each = at; *each != NULL; each = &(*each)->next)
		if ((*each)->passed >= MAX_PASSED)
			at = &(*each)->next;
	while (*at != NULL && !goes_before(job, *at))
		at = &(*at)->next;
	job->next = *at;
	*at = job;
	for (struct job *behind = job->next; behind != NULL; behind = behind->next)
		behind->passed++;
}

/* One worker is reserved for small code, if there is more than one. */
static bool
large_may_start(void)
{
	size_t large = 0, there = 0;

	for (const struct file_queue *d = queue.file_queues; d < queue.file_queues + queue.count;
	     d++) {
		there += !d->gone;
		large += d->job != NULL && is_large(d->job);
	}
	return large == 0 || large + 1 < there;
}

static struct job *
choose(void)
{
	bool any = large_may_start();

	for (struct job **at = &queue.waiting, *job; (job = *at) != NULL; at = &job->next)
		if (any || !is_large(job)) {
			*at = job->next;
			return job;
		}
	return NULL;
}

static void
give(struct file_queue *file_queue, struct job *job)
{
	struct err e;

	file_queue->job = job;
	if (worker_give(file_queue->worker, job->call->message, job->request, &e) < 0)
		end_job(take_ptr(file_queue->job), NULL, &e);
}

static void
pump(void)
{
	struct job *job;

	for (struct file_queue *d = queue.file_queues; d < queue.file_queues + queue.count; d++)
		while (!d->gone && d->job == NULL && (job = choose()) != NULL)
			give(d, job);
}

/* ---- replies of the workers ---- */

static void
checked(void *self, void *reply, const struct err *e)
{
	struct file_queue *file_queue = self;

	end_job(take_ptr(file_queue->job), reply, e);
	pump();
}

static void
died(void *self)
{
	struct file_queue *file_queue = self;
	size_t gone = 0;
	struct err e;

	file_queue->gone = true;
	queue.config.short_of_one();
	for (const struct file_queue *d = queue.file_queues; d < queue.file_queues + queue.count;
	     d++)
		gone += d->gone;
	err_set(&e, ERR_unavailable, "all worker processes have ended");
	while (gone == queue.count && queue.waiting != NULL) {
		struct job *job = queue.waiting;

		queue.waiting = job->next;
		end_job(job, NULL, &e);
	}
}

/* ---- new jobs ---- */

/* A running job is not stopped, because a parse cannot be interrupted. */
static void
on_cancel(struct call *call, enum err_code why)
{
	struct job **at = &queue.waiting, *job = call->self;
	struct err e;

	while (*at != NULL && *at != job)
		at = &(*at)->next;
	if (*at == NULL)
		return;
	*at = job->next;
	err_set(&e, why, "the caller no longer waits for it");
	end_job(job, NULL, &e);
}

static uint64_t
open_of(const char *principal)
{
	uint64_t n = 0;

	for (const struct job *job = queue.jobs; job != NULL; job = job->next_open)
		n += strcmp(job->call->owner.principal, principal) == 0;
	return n;
}

static int
check_room(uint64_t mine, struct err *e)
{
	if (queue.open < queue.config.max_waiting && mine < queue.config.max_waiting_each)
		return 0;
	if (queue.open >= queue.config.max_waiting)
		err_set(e, ERR_queue_full, "%u checks wait already, which is the limit",
		    (unsigned)queue.open);
	else
		err_set(e, ERR_queue_full, "%u of your checks wait already, which is the limit",
		    (unsigned)mine);
	e->retry_ms = RETRY_MS;
	return -1;
}

int
queue_submit(struct call *call, void *request, uint64_t bytes, struct err *e)
{
	uint64_t mine = open_of(call->owner.principal);

	if (check_room(mine, e) < 0)
		return -1;
	struct job *job = calloc(1, sizeof *job);
	size_t size = messages[call->message].size;
	void *copy = malloc(size);
	must(job != NULL && copy != NULL);
	memcpy(copy, request, size);
	memset(request, 0, size);
	*job = (struct job){
		.call = call,
		.turn = mine,
		.bytes = bytes,
		.request = copy,
		.next_open = queue.jobs,
		.link = &queue.jobs,
	};
	if (queue.jobs != NULL)
		queue.jobs->link = &job->next_open;
	queue.jobs = job;
	queue.open++;
	call->self = job;
	call->on_cancel = on_cancel;
	enqueue(job);
	pump();
	return 0;
}

void
queue_load(struct heartbeat *load)
{
	uint64_t running = 0;

	for (const struct file_queue *d = queue.file_queues; d < queue.file_queues + queue.count;
	     d++)
		running += d->job != NULL;
	load->running = running;
	load->queued = queue.open - running;
	load->room = queue.config.max_waiting - queue.open;
}

/* ---- start and stop ---- */

/* The processors that this process may use. */
static uint64_t
processors(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
}

int
queue_open(const struct queue_config *config, struct err *e)
{
	uint64_t count = config->workers != 0 ? config->workers : processors();

	memset(&queue, 0, sizeof queue);
	queue.config = *config;
	if (config->workers == 0 && count < 2)
		count = 2;
	/* Start all before waiting: each takes time until it is ready. */
	for (; queue.count < count && queue.count < MAX_WORKERS; queue.count++)
		if ((queue.file_queues[queue.count].worker = worker_fork(&config->plan, e)) == NULL)
			return -1;
	for (size_t i = 0; i < queue.count; i++)
		if (worker_meet(queue.file_queues[i].worker, e) < 0)
			return -1;
	return 0;
}

int
queue_start(struct err *e)
{
	for (struct file_queue *d = queue.file_queues; d < queue.file_queues + queue.count; d++)
		if (worker_watch(d->worker, checked, died, d, e) < 0)
			return -1;
	return 0;
}

void
queue_stop(void)
{
	struct err e;

	err_set(&e, ERR_unavailable, "the server is stopping");
	while (queue.jobs != NULL)
		end_job(queue.jobs, NULL, &e);
	queue.waiting = NULL;
	for (; queue.count > 0; queue.count--)
		worker_free(queue.file_queues[queue.count - 1].worker);
}
