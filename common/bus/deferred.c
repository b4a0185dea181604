/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.c - replies for clients that read more slowly than they send requests.
 *
 * A client may never read. So the waiting bytes are bounded for each daemon, over all its
 * connections, and in total. Failures are small and have a higher bound of their own.
 */
#include "common/bus/deferred.h"
#include "common/bus/bus.h"

#include "common/bus/inner.h"

#include <stdlib.h>

struct deferred {
	struct answer answer;
	struct deferred *next;
	size_t bytes;
};

static size_t all_bytes, bytes_of[PEER_COUNT];

static int
check_room(const struct deferreds *l, size_t bytes, bool failure, struct err *e)
{
	const char *reader = edge_peer_name(l->reader);
	size_t mine = bytes_of[l->reader];

	/* An honest client has no more open requests. */
	if (l->count >= BUS_MAX_ASKS)
		return err_set(e, ERR_internal, "%zu replies wait for %s", l->count, reader);
	if (failure && all_bytes + bytes > BUS_MESSAGE_UNSENT_BIG)
		return err_set(e, ERR_internal, "replies of %zu bytes wait for clients", all_bytes);
	if (!failure && mine + bytes > BUS_MESSAGE_BYTES)
		return err_set(e, ERR_limit_exceeded,
		    "done, but the reply of %zu bytes is lost: %zu bytes wait for %s, the limit is "
		    "%d",
		    bytes, mine, reader, BUS_MESSAGE_BYTES);
	if (!failure && all_bytes + bytes > BUS_MESSAGE_UNSENT_BYTES)
		return err_set(e, ERR_limit_exceeded,
		    "done, but the reply of %zu bytes is lost: %zu bytes wait for clients, the "
		    "limit is %d",
		    bytes, all_bytes, BUS_MESSAGE_UNSENT_BYTES);
	return 0;
}

int
deferred_add(struct deferreds *l, struct answer *a, struct err *e)
{
	size_t bytes = sizeof(struct deferred) + bus_message_weigh(&a->content);

	if (check_room(l, bytes, a->frame == frame_failure, e) < 0)
		return -1;
	struct deferred *new = calloc(1, sizeof *new);
	if (new == NULL)
		return err_sys(e, "a reply for %s", edge_peer_name(l->reader));
	*new = (struct deferred){ .answer = *a, .bytes = bytes };
	a->content = (struct packed){ 0 };
	if (l->first == NULL)
		l->last = &l->first;
	*l->last = new;
	l->last = &new->next;
	l->count++;
	bytes_of[l->reader] += bytes;
	all_bytes += bytes;
	return 0;
}

struct answer *
deferred_first(struct deferreds *l)
{
	return l->first == NULL ? NULL : &l->first->answer;
}

void
deferred_drop(struct deferreds *l)
{
	struct deferred *first = l->first;

	l->first = first->next;
	l->count--;
	bytes_of[l->reader] -= first->bytes;
	all_bytes -= first->bytes;
	packed_clear(&first->answer.content);
	free(first);
}

void
deferred_clear(struct deferreds *l)
{
	while (l->first != NULL)
		deferred_drop(l);
}
