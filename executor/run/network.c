/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - has egress serve the names that a run may reach.
 *
 * Theory of operation.  The builder makes listening sockets in the box's network namespace.  Their
 * descriptors are passed on to egress, together with the names.  egress answers when the network
 * ends, which this process requests at the end of the run.  If egress dies, the sockets are closed
 * with it: the program loses its network and nothing else.
 *
 * Trusts egress only for what it reports.
 */
#include "executor/run/network.h"

#include "executor/event.h"
#include "executor/redact/redact.h"

#include "common/base/auto.h"
#include "common/base/domain.h"
#include "common/base/log.h"
#include "common/daemon/handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	GRANTS_MS = 5000, /* approvald reads its memory */
	END_MS = 2000,
};

/* ---- names ---- */

uint64_t
network_ask_grants(const struct owner *owner, struct approval_grants *request,
    void (*done)(void *self, void *reply, const struct err *), void *self, struct err *e)
{
	request->kind = approval_kind_egress;
	return bus_ask(&(struct ask){ .to = PEER_approvald,
			   .message = MSG_approval_grants,
			   .request = request,
			   .owner = owner,
			   .timeout_ms = GRANTS_MS,
			   .self = self,
			   .done = done },
	    e);
}

/* The ports that programs may connect to. */
static int
ports_of(const struct texts *domains, uint16_t ports[BOX_PORTS], struct err *e)
{
	struct domain domain;
	size_t n = 2;

	memset(ports, 0, BOX_PORTS * sizeof *ports);
	ports[0] = 80;
	ports[1] = 443;
	for (size_t i = 0, k; i < domains->count; i++) {
		if (domain_read(domains->items[i], &domain, e) < 0)
			return -1;
		for (k = 0; k < n && ports[k] != domain.port; k++)
			;
		if (domain.port == 0 || k < n)
			continue;
		if (n == BOX_PORTS)
			return err_set(e, ERR_invalid_argument,
			    "allowed_domains: more than %d different ports", BOX_PORTS);
		ports[n++] = domain.port;
	}
	return 0;
}

/* ---- begin ---- */

/* The report comes when the network ends, or when egress is lost. */
static void
served(void *self, void *reply, const struct err *e)
{
	struct network *network = self;
	void (*then)(void *, const struct err *) = network->then;

	network->asked = 0;
	if (reply != NULL) {
		network->report = *(struct network_report *)reply;
		*(struct network_report *)reply = (struct network_report){ 0 };
	} else if (e->code != ERR_cancelled) {
		log_warn("the network of a run was lost", LOG_E(e));
	}
	network->then = NULL;
	if (then != NULL)
		then(network->self, NULL);
}

static int
pass_on(struct network *network, int *fds, size_t nfds, struct err *e)
{
	struct handover handover = { .nfds = nfds };
	const char *instance;
	struct serve_network request = { .network = strdup(network->id) };

	if (request.network == NULL)
		return err_sys(e, "network");
	snprintf(handover.name, sizeof handover.name, "%s", network->id);
	memcpy(handover.fds, fds, nfds * sizeof *fds);
	if (bus_instances(PEER_egress, &instance, 1) == 0)
		err_set(e, ERR_unavailable, "egress is not running, so there is no network");
	else if (handover_give(PEER_executor, PEER_egress, instance, &handover, e) == 0) {
		request.domains = *network->domains;
		network->asked = bus_ask(&(struct ask){ .to = PEER_egress,
					     .instance = instance,
					     .message = MSG_serve_network,
					     .request = &request,
					     .owner = network->owner,
					     .self = network,
					     .done = served },
		    e);
	}
	free(request.network);
	return network->asked != 0 ? 0 : -1;
}

static void
listening(void *self, int *fds, size_t nfds, const struct err *why)
{
	struct network *network = self;
	void (*then)(void *, const struct err *) = take_ptr(network->then);
	struct err e = why != NULL ? *why : (struct err){ 0 };

	if (why == NULL && pass_on(network, fds, nfds, &e) == 0)
		network->up = true;
	then(network->self, network->up ? NULL : &e);
}

int
network_begin(struct network *network, struct sandbox *sandbox,
    void (*then)(void *, const struct err *), void *self, struct err *e)
{
	uint16_t ports[BOX_PORTS];

	if (!bus_ready(PEER_egress, NULL))
		return err_set(e, ERR_unavailable, "egress is not running, so there is no network");
	if (ports_of(network->domains, ports, e) < 0)
		return -1;
	network->then = then;
	network->self = self;
	return sandbox_listen(sandbox, ports, listening, network, e);
}

/* ---- end ---- */

/* egress does not answer. */
static void
end_answered(void *self, void *reply, const struct err *e)
{
	uint64_t asked = (uint64_t)(uintptr_t)self;

	(void)e;
	if (reply == NULL)
		bus_cancel(asked);
}

static void
ask_to_end(const struct network *network)
{
	struct end_network request = { .network = (char *)(uintptr_t)network->id };
	struct err e;

	if (bus_ask(&(struct ask){ .to = PEER_egress,
			.message = MSG_end_network,
			.request = &request,
			.timeout_ms = END_MS,
			.self = (void *)(uintptr_t)network->asked,
			.done = end_answered },
		&e) == 0)
		bus_cancel(network->asked);
}

void
network_end(struct network *network, void (*then)(void *, const struct err *), void *self)
{
	if (network->asked == 0) {
		then(self, NULL);
		return;
	}
	network->then = then;
	network->self = self;
	ask_to_end(network);
}

void
network_drop(struct network *network)
{
	network->then = NULL;
	if (network->asked != 0)
		bus_cancel(network->asked);
	message_clear(MSG_network_report, &network->report);
}

/* ---- what came of it ---- */

static void
note_attempt(const struct network *network, const struct event_owner *owner,
    const struct network_attempt *attempt)
{
	char detail[400];
	struct audit_event event = {
		.event = attempt->refused != NULL ? event_network_refused : event_network_used,
		.execution_id = (char *)(uintptr_t)network->id,
		.detail = detail,
	};

	if (attempt->refused != NULL)
		event.code = (char *)(uintptr_t)err_name(ERR_egress_denied);
	snprintf(detail, sizeof detail,
	    "%.253s:%" PRIu64 " connections %" PRIu64 ", bytes in %" PRIu64 ", bytes out %" PRIu64
	    "%s%.64s",
	    attempt->name, attempt->port, attempt->connections, attempt->bytes_in,
	    attempt->bytes_out, attempt->refused != NULL ? ": " : "",
	    attempt->refused != NULL ? attempt->refused : "");
	event_note(owner, event);
}

static int
tell_hint(const struct network_attempt *attempt, struct problem *problem, struct err *e)
{
	char hint[512];

	if (attempt->port == 0)
		snprintf(hint, sizeof hint,
		    "%.253s is not among the domains of this run. Add it to allowed_domains, if "
		    "the operator of this server allows it.",
		    attempt->name);
	else
		snprintf(hint, sizeof hint, "The network refused %.253s:%" PRIu64 ": %.64s.",
		    attempt->name, attempt->port, attempt->refused);
	free(problem->hint);
	problem->hint = strdup(hint);
	return problem->hint != NULL ? 0 : err_sys(e, "hint");
}

static int
tell_usage(const struct network *network, struct usage *usage, struct err *e)
{
	usage->network = calloc(1, sizeof *usage->network);
	if (usage->network == NULL)
		return err_sys(e, "usage");
	*usage->network = (struct network_usage){
		.connections = network->report.connections,
		.bytes_in = network->report.bytes_in,
		.bytes_out = network->report.bytes_out,
	};
	return 0;
}

int
network_tell(struct network *network, const struct redact *redact, const struct event_owner *owner,
    struct execution *reply, struct err *e)
{
	bool told = false;

	if (!network->up)
		return 0;
	/* A program may look up a name that contains a secret; the log keeps it for ever. */
	for (size_t i = 0; i < network->report.attempts.count; i++)
		redact_text(redact, &network->report.attempts.items[i].name);
	for (size_t i = 0; i < network->report.attempts.count; i++) {
		const struct network_attempt *attempt = &network->report.attempts.items[i];

		if (attempt->name == NULL)
			return err_sys(e, "name of an attempt");
		note_attempt(network, owner, attempt);
		if (attempt->refused == NULL || reply->error == NULL || told)
			continue;
		if (tell_hint(attempt, reply->error, e) < 0)
			return -1;
		told = true;
	}
	return reply->usage != NULL ? tell_usage(network, reply->usage, e) : 0;
}
