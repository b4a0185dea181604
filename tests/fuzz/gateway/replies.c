/* SPDX-License-Identifier: Apache-2.0 */
/* replies.c - what was asked waits here; replies are samples of their message, or errors. */
#include "tests/fuzz/gateway/replies.h"

#include "common/bus/bus.h"
#include "common/rights/rights.h"
#include "tests/wire/sample.h"

#include <string.h>

enum {
	ASKS = 64,
};

static struct {
	struct ask asks[ASKS];
	uint64_t ids[ASKS], next;
	size_t count;
	uint8_t how;
} bus;

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	if (bus.count == ASKS) {
		err_set(e, ERR_queue_full, "too much waits");
		return 0;
	}
	bus.asks[bus.count] = *ask;
	bus.ids[bus.count++] = ++bus.next;
	return bus.next;
}

static struct ask
take(size_t i)
{
	struct ask ask = bus.asks[i];

	bus.count--;
	memmove(&bus.asks[i], &bus.asks[i + 1], (bus.count - i) * sizeof bus.asks[0]);
	memmove(&bus.ids[i], &bus.ids[i + 1], (bus.count - i) * sizeof bus.ids[0]);
	return ask;
}

void
bus_cancel(uint64_t id)
{
	struct err e;

	err_set(&e, ERR_cancelled, "cancelled");
	for (size_t i = 0; i < bus.count; i++) {
		if (bus.ids[i] != id)
			continue;

		struct ask ask = take(i);

		ask.done(ask.self, NULL, &e);
		return;
	}
}

bool
bus_ready(enum peer peer, struct heartbeat *load)
{
	(void)peer;
	(void)load;
	return (bus.how & 1) != 0;
}

const char *
bus_asked(uint64_t id)
{
	for (size_t i = 0; i < bus.count; i++)
		if (bus.ids[i] == id)
			return "one";
	return "";
}

void
bus_forget(uint64_t id)
{
	for (size_t i = 0; i < bus.count; i++)
		if (bus.ids[i] == id) {
			take(i);
			return;
		}
}

/* Every server of this bus is connected. */
size_t
bus_waiting(void)
{
	return 0;
}

void
bus_refuse_waiting(const struct err *why)
{
	(void)why;
}

/* None: who is there would be asked for changes without an end. */
const char *
bus_lacks(enum peer peer)
{
	return bus_ready(peer, NULL) ? NULL : "it is not connected";
}

size_t
bus_instances(enum peer peer, const char **names, size_t room)
{
	(void)peer;
	(void)names;
	(void)room;
	return 0;
}

void
replies_choose(uint8_t how)
{
	bus.how = how;
}

size_t
replies_wanted(void)
{
	return bus.count;
}

bool
replies_slow(void)
{
	return (bus.how & 8) != 0;
}

void
replies_give(void)
{
	struct ask ask = take(0);
	enum msg_id reply = messages[ask.message].reply;
	struct err e;

	if ((bus.how & 2) != 0) {
		void *full = sample_new(reply, (bus.how & 4) != 0 ? SAMPLE_FULL : SAMPLE_LEAST);

		ask.done(ask.self, full, NULL);
		sample_free(reply, full);
		return;
	}
	err_set(&e, 1 + bus.how % (ERR_COUNT - 1), "\xff%s", "no");
	ask.done(ask.self, NULL, &e);
}

/* ---- rights.h ---- */

const struct rights *
rights_of(const struct owner *owner)
{
	(void)owner;
	return NULL;
}
