/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - keeps one open request at each executor, which is answered with what changed.
 *
 * The only state is the number of the last known change.  If changes were missed (an executor
 * connected late or restarted, or this process was slow), the clients are notified that everything
 * they listen for has changed, so that they read it again.
 */
#include "gateway/mcp/resource/follow.h"

#include "gateway/mcp/resource/change.h"
#include "gateway/mcp/resource/listen.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_EXECUTORS = 256,
	LOOK_MS = 500,   /* for executors that are new or have reconnected */
	WAIT_MS = 60000, /* of one request */
};

struct followed {
	uint64_t epoch, last; /* epoch 0: no reply has arrived yet */
	char instance[65];
	bool asked;
	bool late; /* it was not connected when the first client began to listen */
};

static struct followed executors[MAX_EXECUTORS];
static size_t nexecutors;
static uint64_t timer;

static void ask(struct followed *);

static void
on_changes(void *self, void *reply, const struct err *e)
{
	struct followed *f = self;
	const struct change_list *c = reply;

	f->asked = false;
	if (c != NULL) {
		bool missed = c->missed && (f->epoch != 0 || f->late);

		f->epoch = c->epoch;
		f->last = c->last;
		for (size_t i = 0; i < c->items.count; i++)
			change_tell(&c->items.items[i]);
		if (missed)
			listen_missed();
	}
	if (c != NULL || e->code == ERR_deadline_exceeded)
		ask(f);
}

static void
ask(struct followed *f)
{
	struct await_changes request = { .epoch = f->epoch, .after = f->last };
	const struct ask it = { .to = PEER_executor,
		.instance = f->instance,
		.message = MSG_await_changes,
		.request = &request,
		.timeout_ms = WAIT_MS,
		.self = f,
		.done = on_changes };
	struct err e;

	if (listen_is_idle())
		f->epoch = 0; /* without listeners, changes are skipped */
	else
		f->asked = bus_ask(&it, &e) != 0;
}

static struct followed *
find(const char *instance)
{
	struct followed *f = executors;

	while (f < executors + nexecutors && strcmp(f->instance, instance) != 0)
		f++;
	if (f == executors + nexecutors && nexecutors < MAX_EXECUTORS) {
		nexecutors++;
		snprintf(f->instance, sizeof f->instance, "%s", instance);
	}
	return f < executors + nexecutors ? f : NULL;
}

static void look_again(void *);

static void
look(bool late)
{
	const char *names[MAX_EXECUTORS];
	size_t count = bus_instances(PEER_executor, names, MAX_EXECUTORS);

	for (size_t i = 0; i < count; i++) {
		struct followed *f = find(names[i]);

		if (f == NULL || f->asked)
			continue;
		f->late = late;
		ask(f);
	}
	if (!listen_is_idle())
		timer = loop_after(LOOK_MS, look_again, NULL);
}

static void
look_again(void *none)
{
	(void)none;
	timer = 0;
	look(true);
}

static void
begin(void)
{
	if (timer == 0)
		look(false);
}

void
follow_start(void)
{
	listen_open(begin);
}
