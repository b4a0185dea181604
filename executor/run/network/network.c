/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - has egress serve the names that a run may reach.
 *
 * Theory of operation.  The builder makes listening sockets in the box's network namespace.  Their
 * descriptors are passed on to egress, together with the names.  egress answers when the network
 * ends, which this process requests at the end of the run.  Before that it sends parts: that it
 * serves, so the program may start; then each name when it is used or refused, so nothing that was
 * done is unrecorded if egress, this process or the call ends.  If egress dies, the sockets are
 * closed with it: the program loses its network and nothing else.
 *
 * A package index may have credentials in secretd.  Then secretd is asked first (bound.h), and the
 * box trusts the authority that it has made for this run.
 *
 * Trusts egress only for what it reports.
 */
#include "executor/run/network/network.h"

#include "executor/sandbox/box_listen.h"

#include "common/base/auto.h"
#include "common/base/domain.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	GRANTS_MS = 5000, /* approvald reads its memory */
	AWAY_MS = 2000,   /* egress starts beside this process, or again */
	LOOK_MS = 20,
	SERVE_MS = 5000,
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

/* ---- events ---- */

/* egress does not see what secretd passes on. */
static char with_credentials[] = "with credentials, bytes are not counted";

/* A program may look up a name that contains a secret, and the log keeps it for ever. */
static void
record(const struct network *network, enum event what, const char *name, uint64_t port,
    const char *more)
{
	auto_free char *shown = strdup(name);
	char detail[512];
	struct audit_event event = {
		.event = (int)what,
		.execution_id = (char *)(uintptr_t)network->id,
		.detail = detail,
	};

	must(shown != NULL);
	redact_text(network->known->redact, &shown);
	if (what == event_network_refused)
		event.code = (char *)(uintptr_t)err_name(ERR_egress_denied);
	snprintf(detail, sizeof detail, "%.253s:%" PRIu64 "%s%.128s",
	    shown != NULL ? shown : "(a name)", port,
	    more[0] == '\0'                 ? ""
	    : what == event_network_refused ? ": "
					    : " ",
	    more);
	event_note(&network->owner, event);
}

/* "used PORT NAME", or "refused PORT NAME WHY". */
static void
record_part(const struct network *network, const char *text)
{
	bool used = strncmp(text, "used ", 5) == 0;
	char *end;
	const char *at = text + (used ? 5 : 8);

	if (!used && strncmp(text, "refused ", 8) != 0)
		return;

	uint64_t port = strtoull(at, &end, 10);
	auto_free char *name = *end == ' ' ? strdup(end + 1) : NULL;
	char *why = name != NULL ? strchr(name, ' ') : NULL;

	if (name == NULL)
		return;
	if (why != NULL)
		*why++ = '\0';
	if (used && bound_has(&network->bound, name, port))
		why = with_credentials;
	record(network, used ? event_network_used : event_network_refused, name, port,
	    why != NULL ? why : "");
}

/* ---- begin ---- */

static void
tell(struct network *network, const struct err *e)
{
	void (*then)(void *, const struct err *) = take_ptr(network->then);

	loop_unset(network->timer);
	network->timer = 0;
	if (then != NULL)
		then(network->self, e);
}

/* egress hangs; served() is called. */
static void
late(void *self)
{
	struct network *network = self;

	network->timer = 0;
	bus_cancel(network->asked);
}

static void
came(void *self, const struct stream_part *part)
{
	struct network *network = self;
	const char *text = part->text.data;

	if (text == NULL || part->text.size == 0)
		return;
	if (network->up) {
		record_part(network, text);
	} else if (strcmp(text, "serving") == 0) {
		network->up = true;
		tell(network, NULL);
	}
}

/* The report comes when the network ends, or when egress is lost. */
static void
served(void *self, void *reply, const struct err *e)
{
	struct network *network = self;
	struct err why;

	network->asked = 0;
	if (reply != NULL) {
		network->report = *(struct network_report *)reply;
		*(struct network_report *)reply = (struct network_report){ 0 };
	} else if (e->code != ERR_cancelled) {
		log_warn("the network of a run was lost", LOG_E(e));
		network->lost = true;
	}
	if (network->up) {
		tell(network, NULL);
		return;
	}
	err_set(&why, ERR_unavailable, "egress does not serve the network of this run: %.100s",
	    e != NULL ? e->text : "it ended");
	tell(network, &why);
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
		request.bound = network->bound.names;
		if (request.bound.count > 0)
			request.secretd = network->bound.instance;
		network->asked = bus_ask(&(struct ask){ .to = PEER_egress,
					     .instance = instance,
					     .message = MSG_serve_network,
					     .request = &request,
					     .owner = network->owner.owner,
					     .self = network,
					     .part = came,
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
	struct err e = why != NULL ? *why : (struct err){ 0 };

	if (why != NULL || pass_on(network, fds, nfds, &e) < 0)
		tell(network, &e);
	else
		network->timer = loop_after(SERVE_MS, late, network);
}

static int
listen_in(struct network *network, struct err *e)
{
	uint16_t ports[BOX_PORTS];

	return ports_of(network->domains, ports, e) < 0
	           ? -1
	           : sandbox_listen(network->sandbox, ports, listening, network, e);
}

/* ---- credentials ---- */

static void
trusted(void *self, const struct err *why)
{
	struct network *network = self;
	struct err e;

	if (why != NULL)
		tell(network, why);
	else if (listen_in(network, &e) < 0)
		tell(network, &e);
}

/* The box must trust the authority of this run before its program starts. */
static void
bound(void *self, const struct err *why)
{
	struct network *network = self;
	struct err e;

	if (why != NULL || network->bound.certificate == NULL)
		trusted(network, why);
	else if (sandbox_trust(network->sandbox, network->bound.certificate, trusted, network, &e) <
		 0)
		tell(network, &e);
}

static int
start(struct network *network, struct err *e)
{
	if (!bound_wanted(network->domains) || !bus_ready(PEER_secretd, NULL))
		return listen_in(network, e);
	network->bound.self = network;
	return bound_begin(
	    &network->bound, network->id, network->domains, network->owner.owner, bound, e);
}

/* Without secretd a run has a network, and no credentials. */
static bool
is_ready(const struct network *network)
{
	return bus_ready(PEER_egress, NULL) &&
	       (bus_ready(PEER_secretd, NULL) || !bound_wanted(network->domains));
}

static void
look_again(void *self)
{
	struct network *network = self;
	bool late = loop_now_ms() >= network->until_ms;
	struct err e;

	network->timer = 0;
	if (is_ready(network) || (late && bus_ready(PEER_egress, NULL))) {
		if (start(network, &e) < 0)
			tell(network, &e);
	} else if (!late) {
		network->timer = loop_after(LOOK_MS, look_again, network);
	} else {
		err_set(&e, ERR_unavailable, "egress is not running, so there is no network");
		tell(network, &e);
	}
}

int
network_begin(struct network *network, struct sandbox *sandbox,
    void (*then)(void *, const struct err *), void *self, struct err *e)
{
	network->sandbox = sandbox;
	network->then = then;
	network->self = self;
	if (is_ready(network))
		return start(network, e);
	network->until_ms = loop_now_ms() + AWAY_MS;
	network->timer = loop_after(LOOK_MS, look_again, network);
	return 0;
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
	loop_unset(network->timer);
	network->timer = 0;
	if (network->asked != 0)
		bus_cancel(network->asked);
	bound_drop(&network->bound);
	message_clear(MSG_network_report, &network->report);
}

/* ---- what came of it ---- */

/* Parts that were dropped are recorded now, and how much each name was used. */
static void
record_rest(const struct network *network)
{
	char more[160];

	for (size_t i = 0; i < network->report.attempts.count; i++) {
		const struct network_attempt *a = &network->report.attempts.items[i];

		if (a->refused != NULL && !a->told)
			record(network, event_network_refused, a->name, a->port, a->refused);
		if (a->refused != NULL)
			continue;
		if (bound_has(&network->bound, a->name, a->port))
			snprintf(more, sizeof more, "connections %" PRIu64 " %s", a->connections,
			    with_credentials);
		else
			snprintf(more, sizeof more,
			    "connections %" PRIu64 ", bytes in %" PRIu64 ", bytes out %" PRIu64,
			    a->connections, a->bytes_in, a->bytes_out);
		record(network, event_network_used, a->name, a->port, more);
	}
	if (network->report.more == 0)
		return;
	snprintf(more, sizeof more, "%" PRIu64 " more refusals of this run", network->report.more);
	record(network, event_network_refused, "others", 0, more);
}

/* Does the program's error come from a refusal?  Only then it is the reason of the failure. */
static bool
is_of_network(const struct execution *reply, const char *name)
{
	static const char *const words[] = { "resol", "not known", "ENOTFOUND", "EAI_AGAIN",
		"onnection", "ECONN", "unreachable", "timed out", "fetch failed", "hang up", "SSL",
		"TLS" };
	const char *message = reply->error->message != NULL ? reply->error->message : "";
	const char *output = reply->stderr.data != NULL ? reply->stderr.data : "";
	const char *texts[] = { message, output };

	for (size_t t = 0; t < COUNT(texts); t++) {
		if (strstr(texts[t], name) != NULL)
			return true;
		for (size_t i = 0; i < COUNT(words); i++)
			if (strstr(texts[t], words[i]) != NULL)
				return true;
	}
	return false;
}

static int
set_hint(const struct network_attempt *attempt, struct problem *problem, struct err *e)
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

/* All refusals, also if the program succeeded. */
static int
note_refusals(const struct network *network, struct execution *reply, struct err *e)
{
	char note[1024];
	size_t n = 0, count = 0;

	for (size_t i = 0; i < network->report.attempts.count; i++) {
		const struct network_attempt *a = &network->report.attempts.items[i];

		if (a->refused == NULL ||
		    n + strlen(a->name) + strlen(a->refused) + 16 > sizeof note)
			continue;
		n += (size_t)snprintf(
		    note + n, sizeof note - n, "%s%s", count++ > 0 ? "; " : "", a->name);
		if (a->port != 0)
			n += (size_t)snprintf(note + n, sizeof note - n, ":%" PRIu64, a->port);
		n += (size_t)snprintf(note + n, sizeof note - n, " (%s)", a->refused);
	}
	if (count == 0)
		return 0;

	auto_free char *text = NULL;

	return asprintf(&text, "The network refused: %s.", note) < 0 ||
	               texts_add(&reply->notes, text) < 0
	           ? err_sys(e, "notes")
	           : 0;
}

static int
tell_refusals(const struct network *network, struct execution *reply, struct err *e)
{
	for (size_t i = 0; i < network->report.attempts.count && reply->error != NULL; i++) {
		const struct network_attempt *attempt = &network->report.attempts.items[i];

		if (attempt->refused == NULL || !is_of_network(reply, attempt->name))
			continue;
		if (set_hint(attempt, reply->error, e) < 0)
			return -1;
		break;
	}
	return note_refusals(network, reply, e);
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
network_tell(struct network *network, struct execution *reply, struct err *e)
{
	if (!network->up)
		return 0;
	record_rest(network);
	for (size_t i = 0; i < network->report.attempts.count; i++) {
		char **name = &network->report.attempts.items[i].name;

		redact_text(network->known->redact, name);
		if (*name == NULL)
			return err_sys(e, "names of the network");
	}
	if (network->lost &&
	    texts_add(&reply->notes, "The network was lost during the run: egress ended.") < 0)
		return err_sys(e, "notes");
	if (tell_refusals(network, reply, e) < 0)
		return -1;
	return reply->usage != NULL && !network->lost ? tell_usage(network, reply->usage, e) : 0;
}
