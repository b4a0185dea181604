/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - who runs next.
 *
 * Trusts nobody not to flood it: a principal has a share of the waiting places, and what waits is
 * bounded in number and in bytes.
 */
#include "executor/run/queue.h"

#include "executor/event.h"
#include "executor/options.h"

#include "common/auto.h"
#include "common/log.h"
#include "common/loop.h"

#include <inttypes.h>
#include <string.h>

/* The tickets of one principal that wait; exists while there are any. */
struct line {
	char *principal;
	struct ticket *first, *last;
	uint64_t count;
	struct line *next;
};

static struct {
	struct line *turn; /* whose ticket is next; the others follow in order */
	struct queue_counts counts;
	uint64_t bytes; /* of all that wait */
	double run_ms;  /* how long a run takes, of late */
	bool pressed;   /* it was said that the queue is full */
	bool pumping;
} queue = { .run_ms = 100 };

static struct line **
find_line(const char *principal)
{
	struct line **at = &queue.turn;

	while (*at != NULL && strcmp((*at)->principal, principal) != 0)
		at = &(*at)->next;
	return at;
}

static struct line *
new_line(struct line **at, const char *principal, struct err *e)
{
	struct line *line = calloc(1, sizeof *line);

	if (line == NULL || (line->principal = strdup(principal)) == NULL) {
		free(line);
		err_sys(e, "queue");
		return NULL;
	}
	return *at = line;
}

static void
drop_line(struct line *line)
{
	*find_line(line->principal) = line->next;
	free(line->principal);
	free(line);
}

static void
unlink_ticket(struct ticket *ticket)
{
	struct line *line = ticket->line;
	struct ticket **at = &line->first, *before = NULL;

	for (; *at != ticket; at = &(*at)->next)
		before = *at;
	*at = ticket->next;
	if (line->last == ticket)
		line->last = before;
	ticket->next = NULL;
	ticket->line = NULL;
	line->count--;
	queue.counts.waiting--;
	queue.bytes -= ticket->bytes;
	if (line->first == NULL)
		drop_line(line);
}

/* The line that was served goes behind all others. */
static void
next_turn(struct line *served)
{
	struct line **end = &queue.turn;

	if (queue.turn != served || served->next == NULL)
		return;
	queue.turn = served->next;
	served->next = NULL;
	while (*end != NULL)
		end = &(*end)->next;
	*end = served;
}

static void
run(struct ticket *ticket)
{
	ticket->state = TICKET_RUNS;
	ticket->since_ms = loop_now_ms();
	queue.counts.running++;
	ticket->start(ticket->self);
}

/* A start that fails at once leaves again from within; it must not start the next one inside
 * itself, or a full queue of such would be that many calls deep. */
static void
pump(void)
{
	if (queue.pumping)
		return;
	queue.pumping = true;
	while (queue.turn != NULL && queue.counts.running < options.max_concurrent) {
		struct line *line = queue.turn;
		struct ticket *ticket = line->first;

		next_turn(line);
		unlink_ticket(ticket);
		run(ticket);
	}
	queue.pumping = false;
	if (queue.counts.waiting * 2 <= options.max_waiting)
		queue.pressed = false;
}

/* Until half of those who wait have run, at least. */
static int
retry_ms(void)
{
	double turns = ((double)queue.counts.waiting / 2 + 1) / (double)options.max_concurrent;
	double ms = turns * queue.run_ms;

	return ms < 50 ? 50 : ms > 60000 ? 60000 : (int)ms;
}

static int
full(const struct ticket *ticket, struct err *e, const char *what, uint64_t limit)
{
	err_set(e, ERR_queue_full, "%s (limit %" PRIu64 "), %" PRIu64 " run and %" PRIu64 " wait",
	    what, limit, queue.counts.running, queue.counts.waiting);
	e->retry_ms = retry_ms();
	if (queue.pressed)
		return -1;
	queue.pressed = true;
	log_warn("queue full", LOG_N("running", queue.counts.running),
	    LOG_N("waiting", queue.counts.waiting));
	event_note(&(struct owner){ .principal = ticket->principal },
	    (struct audit_event){ .event = event_queue_backpressure, .detail = e->text });
	return -1;
}

static int
wait_in(struct line *line, struct ticket *ticket)
{
	if (line->last != NULL)
		line->last->next = ticket;
	else
		line->first = ticket;
	line->last = ticket;
	line->count++;
	ticket->line = line;
	ticket->next = NULL;
	ticket->state = TICKET_WAITS;
	queue.counts.waiting++;
	queue.bytes += ticket->bytes;
	return 0;
}

bool
queue_is_busy(void)
{
	return queue.turn != NULL || queue.counts.running >= options.max_concurrent;
}

int
queue_enter(struct ticket *ticket, struct err *e)
{
	must(ticket->state == TICKET_OUT);
	if (!queue_is_busy()) {
		run(ticket);
		return 0;
	}
	if (queue.counts.waiting >= options.max_waiting)
		return full(ticket, e, "all places to wait are taken", options.max_waiting);
	if (queue.bytes + ticket->bytes > options.max_waiting_bytes)
		return full(
		    ticket, e, "what waits holds too many bytes", options.max_waiting_bytes);

	struct line **at = find_line(ticket->principal), *line = *at;

	if (line != NULL && line->count >= options.max_waiting_each)
		return full(ticket, e, "your places to wait are taken", options.max_waiting_each);
	if (line == NULL && (line = new_line(at, ticket->principal, e)) == NULL)
		return -1;
	return wait_in(line, ticket);
}

void
queue_leave(struct ticket *ticket)
{
	if (ticket->state == TICKET_WAITS) {
		unlink_ticket(ticket);
	} else if (ticket->state == TICKET_RUNS) {
		double ms = (double)(loop_now_ms() - ticket->since_ms);

		queue.run_ms += (ms - queue.run_ms) / 8;
		queue.counts.running--;
		queue.counts.completed++;
	}
	ticket->state = TICKET_OUT;
	pump();
}

const struct queue_counts *
queue_counts(void)
{
	return &queue.counts;
}

void
queue_load(struct heartbeat *load)
{
	uint64_t room = options.max_concurrent + options.max_waiting;

	load->running = queue.counts.running;
	load->queued = queue.counts.waiting;
	room -= queue.counts.running + queue.counts.waiting;
	load->room = room > 1000000 ? 1000000 : room;
}
