/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - decides which call runs next.
 *
 * Theory of operation.  A principal with waiting or running tickets is a party.  A party counts
 * its running tickets and has a lane for each namespace with waiting tickets.  Parties are kept in
 * the order of their turns, and so are the lanes of each party; a party or lane that was served
 * goes to the end.  A ticket waits only if all places are taken, or all that its party may have.
 * So a new ticket that finds neither does not overtake a waiting one.
 *
 * A turn may be long.  Therefore, while there are other principals, a principal that already runs
 * something does not get the last place.  Otherwise everybody would have to wait for its programs
 * of ten minutes.
 *
 * A ticket also waits while its box does not fit into its principal's share of the memory.  Later
 * tickets of its lane then wait, too, even if theirs would fit, so that it is not overtaken
 * forever.
 *
 * Trusts no principal not to flood the queue: each has a share of the waiting places and of the
 * places to run, and waiting tickets are bounded in number and in bytes.
 */
#include "executor/run/queue.h"

#include "executor/event.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/rights/rights.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FAVOURS = 4,         /* runs in a session, in a row, while others could run */
	SHARED_MS = 3600000, /* others are expected this long after a second principal came */
};

/* The waiting tickets of a namespace; exists while there are any. */
struct lane {
	struct lane *next;
	char namespace[OWNER_NAMESPACE];
	struct {
		struct ticket *first, *last;
	} waits[QUEUE_CLASSES];
};

/* A principal; exists while any of its tickets waits or runs. */
struct party {
	struct party *next;
	char principal[OWNER_PRINCIPAL];
	struct lane *lanes; /* the first has the next turn */
	uint64_t waiting, running;
	uint64_t most_waiting, most_running; /* as of its last call */
	bool pressed;                        /* it was reported that its share is used up */
};

static struct {
	struct party *parties; /* the first has the next turn */
	struct queue_counts counts;
	uint64_t bytes;                /* of all waiting tickets */
	double run_ms;                 /* average time of recent runs */
	char pressed[OWNER_PRINCIPAL]; /* for which a full queue was reported; "": none */
	char latest[OWNER_PRINCIPAL];  /* that came last */
	int64_t shared_until_ms;
	unsigned favours;
	bool pumping;
} queue = { .run_ms = 100 };

/* ---- parties and their lanes ---- */

static struct party **
find_party(const char *principal)
{
	struct party **at = &queue.parties;

	while (*at != NULL && strcmp((*at)->principal, principal) != 0)
		at = &(*at)->next;
	return at;
}

static struct party *
need_party(const struct owner *owner, struct err *e)
{
	struct party **at = find_party(owner->principal), *party = *at;
	const struct rights *rights = rights_of(owner);

	if (party == NULL)
		party = calloc(1, sizeof *party);
	if (party == NULL) {
		err_sys(e, "queue");
		return NULL;
	}
	snprintf(party->principal, sizeof party->principal, "%s", owner->principal);
	party->most_waiting = options.max_waiting_each;
	party->most_running = options.max_concurrent_each;
	if (rights != NULL) {
		party->most_waiting = rights_number(rights, &rights->waiting, party->most_waiting);
		party->most_running =
		    rights_number(rights, &rights->concurrent, party->most_running);
	}
	return *at = party;
}

static void
settle_party(struct party *party)
{
	if (party->waiting > 0 || party->running > 0)
		return;
	*find_party(party->principal) = party->next;
	free(party);
}

static struct lane **
find_lane(struct party *party, const char *namespace)
{
	struct lane **at = &party->lanes;

	while (*at != NULL && strcmp((*at)->namespace, namespace) != 0)
		at = &(*at)->next;
	return at;
}

static struct lane *
need_lane(struct party *party, const char *namespace, struct err *e)
{
	struct lane **at = find_lane(party, namespace), *lane = *at;

	if (lane != NULL)
		return lane;
	lane = calloc(1, sizeof *lane);
	if (lane == NULL) {
		err_sys(e, "queue");
		return NULL;
	}
	snprintf(lane->namespace, sizeof lane->namespace, "%s", namespace);
	return *at = lane;
}

static void
settle_lane(struct party *party, struct lane *lane)
{
	for (int class = 0; class < QUEUE_CLASSES; class ++)
		if (lane->waits[class].first != NULL)
			return;
	*find_lane(party, lane->namespace) = lane->next;
	free(lane);
}

/* The party and the lane that were served go to the end. */
static void
end_turn(struct party *party, struct lane *lane)
{
	struct party **last = find_party(party->principal);
	struct lane **end = find_lane(party, lane->namespace);

	for (*last = party->next; *last != NULL;)
		last = &(*last)->next;
	*last = party;
	party->next = NULL;
	for (*end = lane->next; *end != NULL;)
		end = &(*end)->next;
	*end = lane;
	lane->next = NULL;
}

/* ---- pressure ---- */

static void
tell_pressure(const char *principal, const char *text)
{
	struct owner owner;

	must(owner_set(&owner, principal, NULL));
	log_warn(
	    text, LOG_N("running", queue.counts.running), LOG_N("waiting", queue.counts.waiting));
	event_note(&(struct event_owner){ .owner = &owner },
	    (struct audit_event){
		.event = event_queue_backpressure, .detail = (char *)(uintptr_t)text });
}

/* Reports when half of the overload has been worked off. */
static void
relieve(struct party *party)
{
	if (party->pressed && party->waiting * 2 <= party->most_waiting) {
		party->pressed = false;
		tell_pressure(party->principal, "relieved: your share of the queue has room again");
	}
	if (queue.pressed[0] != 0 && queue.counts.waiting * 2 <= options.max_waiting &&
	    queue.bytes * 2 <= options.max_waiting_bytes) {
		tell_pressure(queue.pressed, "relieved: the queue has room again");
		queue.pressed[0] = 0;
	}
}

/* An estimate of the time until half of the waiting calls have run. */
static int
retry_ms(void)
{
	double turns = ((double)queue.counts.waiting / 2 + 1) / (double)options.max_concurrent;
	double ms = turns * queue.run_ms;

	return ms < 50 ? 50 : ms > 60000 ? 60000 : (int)ms;
}

static int
full(const char *what, uint64_t limit, struct err *e)
{
	err_set(e, ERR_queue_full,
	    "%s (limit %" PRIu64 "); %" PRIu64 " calls are running, %" PRIu64 " are waiting", what,
	    limit, queue.counts.running, queue.counts.waiting);
	e->retry_ms = retry_ms();
	return -1;
}

static int
check_all(const struct ticket *ticket, struct err *e)
{
	if (queue.counts.waiting >= options.max_waiting)
		full("the queue is full", options.max_waiting, e);
	else if (queue.bytes + ticket->bytes > options.max_waiting_bytes)
		full("the code and files of waiting calls have too many bytes",
		    options.max_waiting_bytes, e);
	else
		return 0;
	if (queue.pressed[0] == 0) {
		snprintf(queue.pressed, sizeof queue.pressed, "%s", ticket->owner->principal);
		tell_pressure(queue.pressed, e->text);
	}
	return -1;
}

static int
check_share(struct party *party, struct err *e)
{
	if (party->waiting < party->most_waiting)
		return 0;
	full("your share of the queue is full", party->most_waiting, e);
	if (!party->pressed)
		tell_pressure(party->principal, e->text);
	party->pressed = true;
	return -1;
}

/* ---- waiting ---- */

static void
wait_in(struct party *party, struct lane *lane, struct ticket *ticket)
{
	struct ticket **last = &lane->waits[ticket->class].last;

	if (*last != NULL)
		(*last)->next = ticket;
	else
		lane->waits[ticket->class].first = ticket;
	*last = ticket;
	ticket->next = NULL;
	ticket->party = party;
	ticket->lane = lane;
	ticket->state = TICKET_WAITS;
	party->waiting++;
	queue.counts.waiting++;
	queue.bytes += ticket->bytes;
}

/* The ticket waits no longer; its party stays. */
static void
unlink_ticket(struct ticket *ticket)
{
	struct lane *lane = take_ptr(ticket->lane);
	struct ticket **at = &lane->waits[ticket->class].first, *before = NULL;

	for (; *at != ticket; at = &(*at)->next)
		before = *at;
	*at = ticket->next;
	if (lane->waits[ticket->class].last == ticket)
		lane->waits[ticket->class].last = before;
	ticket->next = NULL;
	ticket->party->waiting--;
	queue.counts.waiting--;
	queue.bytes -= ticket->bytes;
	settle_lane(ticket->party, lane);
	relieve(ticket->party);
}

/* ---- running ---- */

static void
note_principal(const char *principal)
{
	if (strcmp(queue.latest, principal) == 0)
		return;
	if (queue.latest[0] != 0)
		queue.shared_until_ms = loop_now_ms() + SHARED_MS;
	snprintf(queue.latest, sizeof queue.latest, "%s", principal);
}

static bool
has_place(const struct party *party)
{
	if (party == NULL || party->running == 0)
		return true;
	return party->running < party->most_running &&
	       (queue.counts.running + 1 < options.max_concurrent ||
		   loop_now_ms() >= queue.shared_until_ms);
}

static bool
has_memory(const char *principal, const struct ticket *ticket)
{
	return ticket->box_bytes == 0 || share_fits(SHARE_MEMORY, principal, ticket->box_bytes);
}

static void
run(struct party *party, struct ticket *ticket)
{
	ticket->party = party;
	ticket->state = TICKET_RUNS;
	ticket->since_ms = loop_now_ms();
	if (ticket->box_bytes > 0)
		share_keep(&ticket->share, SHARE_MEMORY, party->principal, ticket->box_bytes);
	party->running++;
	queue.counts.running++;
	ticket->start(ticket->self);
}

/* The ticket of that class whose turn it is, of those that could run; or NULL. */
static struct ticket *first_of(enum queue_class class)
{
	for (struct party *party = queue.parties; party != NULL; party = party->next) {
		struct lane *lane = has_place(party) ? party->lanes : NULL;

		for (; lane != NULL; lane = lane->next) {
			struct ticket *ticket = lane->waits[class].first;

			if (ticket != NULL && has_memory(party->principal, ticket))
				return ticket;
		}
	}
	return NULL;
}

static struct ticket *
choose(void)
{
	struct ticket *favoured = first_of(QUEUE_SESSION), *other = first_of(QUEUE_STATELESS);

	if (favoured != NULL && (other == NULL || queue.favours < FAVOURS)) {
		queue.favours = other != NULL ? queue.favours + 1 : 0;
		return favoured;
	}
	queue.favours = 0;
	return other;
}

/* A start that fails at once calls queue_leave() from within.  That must not start the next
 * ticket recursively: a full queue of such tickets would be a recursion of that depth. */
void
queue_pump(void)
{
	struct ticket *ticket;

	if (queue.pumping)
		return;
	queue.pumping = true;
	while (queue.counts.running < options.max_concurrent && (ticket = choose()) != NULL) {
		end_turn(ticket->party, ticket->lane);
		unlink_ticket(ticket);
		run(ticket->party, ticket);
	}
	queue.pumping = false;
}

static bool
has_others_before(struct party *party, const struct ticket *ticket)
{
	const struct lane *lane =
	    party != NULL ? *find_lane(party, ticket->owner->namespace) : NULL;

	return lane != NULL && lane->waits[ticket->class].first != NULL;
}

bool
queue_is_busy(const struct ticket *ticket)
{
	struct party *party = *find_party(ticket->owner->principal);

	return queue.counts.running >= options.max_concurrent || !has_place(party) ||
	       has_others_before(party, ticket) || !has_memory(ticket->owner->principal, ticket);
}

int
queue_enter(struct ticket *ticket, struct err *e)
{
	must(ticket->state == TICKET_OUT);
	if (ticket->box_bytes > 0 &&
	    share_check(SHARE_MEMORY, ticket->owner->principal, ticket->box_bytes, e) < 0)
		return -1;
	note_principal(ticket->owner->principal);
	bool busy = queue_is_busy(ticket);

	if (busy && check_all(ticket, e) < 0)
		return -1;

	struct party *party = need_party(ticket->owner, e);

	if (party == NULL)
		return -1;
	if (!busy) {
		run(party, ticket);
		return 0;
	}

	struct lane *lane =
	    check_share(party, e) < 0 ? NULL : need_lane(party, ticket->owner->namespace, e);

	if (lane != NULL)
		wait_in(party, lane, ticket);
	settle_party(party);
	return lane != NULL ? 0 : -1;
}

static void
note_run(struct ticket *ticket)
{
	double ms = (double)(loop_now_ms() - ticket->since_ms);

	queue.run_ms += (ms - queue.run_ms) / 8;
	share_drop(&ticket->share);
	queue.counts.running--;
	queue.counts.completed++;
	ticket->party->running--;
}

void
queue_leave(struct ticket *ticket)
{
	if (ticket->state == TICKET_OUT)
		return;
	if (ticket->state == TICKET_WAITS)
		unlink_ticket(ticket);
	else
		note_run(ticket);
	ticket->state = TICKET_OUT;
	settle_party(take_ptr(ticket->party));
	queue_pump();
}

/* ---- state for others ---- */

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
