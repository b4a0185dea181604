/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_listen.c - asks the builder for the sockets of a network in a box.
 *
 * Trusts the builder, which answers once for each request.
 */
#include "executor/sandbox/box_listen.h"
#include "executor/sandbox/place.h"

#include "common/base/auto.h"

#include <string.h>

struct listening {
	void (*done)(void *self, int *fds, size_t nfds, const struct err *e);
	void *self;
};

static void
on_started(void *self, const struct answer *answer, int *fds, size_t nfds)
{
	struct listening *listening = self;

	(void)answer;
	listening->done(listening->self, fds, nfds, NULL);
	listening->done = NULL;
}

static void
on_ended(void *self, const struct answer *answer)
{
	auto_free struct listening *listening = self;

	if (listening->done != NULL)
		listening->done(listening->self, NULL, 0, &answer->error);
}

int
box_listen(struct box *box, const uint16_t ports[BOX_PORTS],
    void (*done)(void *self, int *fds, size_t nfds, const struct err *e), void *self, struct err *e)
{
	static const struct builder_request_events events = { .started = on_started,
		.ended = on_ended };
	struct order order = { .kind = ORDER_LISTEN };
	struct listening *listening;

	if (box->builder_request == NULL)
		return err_set(e, ERR_unavailable, "the box has ended");
	listening = malloc(sizeof *listening);
	if (listening == NULL)
		return err_sys(e, "sockets of a network");
	*listening = (struct listening){ done, self };
	order.box = builder_request_id(box->builder_request);
	memcpy(order.ports, ports, sizeof order.ports);
	if (builder_request_start(&order, NULL, 0, &events, listening, e) != NULL)
		return 0;
	free(listening);
	return -1;
}
