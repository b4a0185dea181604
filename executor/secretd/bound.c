/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.c - a call that is open as long as its run, and connections of that run.
 *
 * Trusts the executor for the names of a run, and egress for the run and the name of a connection,
 * which it has checked, resolved and connected.
 */
#include "executor/secretd/bound.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"
#include "common/daemon/handover.h"
#include "executor/secretd/keeper_link.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	BATCH = 16, /* connections that are passed before other events */
};

struct bound {
	struct bound *next;
	struct call *call;
	char run[ORDER_RUN];
	struct texts names;
};

static struct {
	const struct texts *known;
	struct bound *first;
	int listener;
} self = { .listener = -1 };

static struct bound *
find(const char *run)
{
	struct bound *bound = self.first;

	while (bound != NULL && strcmp(bound->run, run) != 0)
		bound = bound->next;
	return bound;
}

/* ---- the end of a run ---- */

static void
forget(struct bound *bound)
{
	struct bound **link = &self.first;

	while (*link != NULL && *link != bound)
		link = &(*link)->next;
	if (*link == bound)
		*link = bound->next;
	texts_clear(&bound->names);
	free(bound);
}

/* why NULL: as requested. */
static void
end(struct bound *bound, const struct err *why)
{
	struct nothing nothing = { .ok = true };
	struct call *call = bound->call;

	keeper_link_end(bound->run);
	forget(bound);
	if (why != NULL)
		call_fail(call, why);
	else
		call_reply(call, &nothing);
}

/* The executor has ended, or no longer waits. */
static void
cancelled(struct call *call, enum err_code why)
{
	(void)why;
	end(call->self, NULL);
}

/* ---- its begin ---- */

static bool
has(const struct texts *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* Those of the names that have credentials, each once. */
static int
choose(const struct texts *asked, struct texts *chosen, struct err *e)
{
	for (size_t i = 0; i < asked->count; i++) {
		if (!domain_is_name(asked->items[i]) || !has(self.known, asked->items[i]) ||
		    has(chosen, asked->items[i]))
			continue;
		if (chosen->count == ORDER_NAMES)
			return err_set(e, ERR_limit_exceeded,
			    "more than %d names with credentials in one run", ORDER_NAMES);
		if (texts_add(chosen, asked->items[i]) < 0)
			return err_sys(e, "names");
	}
	return 0;
}

/* The caller adds it to the list, or frees it. */
static struct bound *
make(struct call *call, const struct serve_bound *ask, struct err *e)
{
	struct bound *bound = calloc(1, sizeof *bound);

	if (bound == NULL) {
		err_sys(e, "run");
		return NULL;
	}
	bound->call = call;
	snprintf(bound->run, sizeof bound->run, "%s", ask->run);
	if (choose(&ask->names, &bound->names, e) == 0)
		return bound;
	forget(bound);
	return NULL;
}

int
bound_on_serve_bound(struct call *call, void *request, struct err *e)
{
	const struct serve_bound *ask = request;
	struct nothing nothing = { .ok = true };
	struct bound *bound;

	if (find(ask->run) != NULL)
		return err_set(e, ERR_invalid_argument, "run %s has bound names", ask->run);
	bound = make(call, ask, e);
	if (bound == NULL)
		return -1;
	if (bound->names.count == 0) {
		forget(bound);
		call_reply(call, &nothing);
		return 0;
	}
	if (keeper_link_serve(bound->run, &bound->names, e) < 0) {
		forget(bound);
		return -1;
	}
	bound->next = self.first;
	self.first = bound;
	call->self = bound;
	call->on_cancel = cancelled;
	return 0;
}

/* "NAME NAME ...\n", and the certificate. */
static int
tell(const struct bound *bound, const char *certificate)
{
	char names[ORDER_NAMES * DOMAIN_NAME + 1] = "";
	struct stream_part part = { .channel = channel_progress };
	size_t n = 0;
	char *text;

	for (size_t i = 0; i < bound->names.count; i++)
		n += (size_t)snprintf(
		    names + n, sizeof names - n, "%s%s", i == 0 ? "" : " ", bound->names.items[i]);
	if (asprintf(&text, "%s\n%s", names, certificate) < 0)
		return -1;
	part.text = (struct blob){ text, strlen(text) };
	return call_stream(bound->call, &part);
}

static void
answered(const struct order_answer *answer)
{
	struct bound *bound = find(answer->run);
	struct err e = answer->why;

	if (bound == NULL)
		return;
	if (e.code == ERR_none && tell(bound, answer->certificate) < 0)
		err_set(&e, ERR_unavailable, "the executor does not listen");
	if (e.code != ERR_none)
		end(bound, &e);
}

/* ---- connections ---- */

/* "RUN NAME" */
static void
pass_on(struct handover *handover)
{
	char *name = strchr(handover->name, ' ');
	const struct bound *bound;
	struct err e;

	if (name != NULL)
		*name++ = '\0';
	bound = find(handover->name);
	if (name == NULL || bound == NULL || !has(&bound->names, name) || handover->nfds != 2)
		err_set(&e, ERR_not_found, "no run has bound this name");
	else if (keeper_link_connect(bound->run, name, handover->fds, &e) == 0)
		return;
	log_warn(
	    "a connection to a bound name is refused", LOG_S("run", handover->name), LOG_E(&e));
}

static void
on_connections(void *unused, uint32_t events)
{
	struct handover handover;

	(void)unused;
	(void)events;
	for (int i = 0; i < BATCH && handover_take(self.listener, &handover); i++) {
		pass_on(&handover);
		handover_clear(&handover);
	}
}

/* ---- start and end ---- */

static void
keeper_ended(void)
{
	daemon_end("the process that keeps the credentials has ended");
}

void
bound_know(const struct texts *names)
{
	self.known = names;
}

int
bound_open(struct err *e)
{
	if (keeper_link_start(answered, keeper_ended, e) < 0)
		return -1;
	self.listener = handover_open(PEER_egress, PEER_secretd, e);
	if (self.listener >= 0)
		return loop_watch(self.listener, EPOLLIN, on_connections, NULL, e);
	if (e->code != ERR_not_found)
		return -1;
	log_warn("no connection can be served", LOG_E(e));
	return 0;
}

void
bound_close(void)
{
	while (self.first != NULL)
		end(self.first, NULL);
	if (self.listener >= 0) {
		loop_forget(self.listener);
		close(take_fd(&self.listener));
	}
	keeper_link_close();
}
