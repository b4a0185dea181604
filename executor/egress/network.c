/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - answers the box's DNS questions and accepts its connections.
 *
 * Theory of operation.  The builder made the sockets in the box's network namespace, where every
 * address of 198.18.0.0/15 is local.  An allowed name gets one of these addresses, which stands for
 * the name in this run only.  The address to which a program connected is therefore the name that
 * it asked for.  The name is checked again then, with the port, and relay.c resolves it anew.
 *
 * Trusts no packet and no connection: they come from a hostile program.  Trusts the executor for
 * the list of names of a run.
 */
#include "executor/egress/network.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "executor/egress/dns.h"
#include "executor/egress/options.h"
#include "executor/egress/passed.h"
#include "executor/egress/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	BATCH = 16,     /* packets or connections handled before other events */
	PAUSE_MS = 100, /* without descriptors, before connections are accepted again */
	MADE_UP = 198u << 24 | 18u << 16,
};

static struct served *first;

static void
refuse(struct served *network, const char *name, uint16_t port, const char *why)
{
	attempt_refuse(&network->attempts, network->call, name, port, why);
}

/* ---- names ---- */

static const struct in_addr *
stand_in(struct served *network, const char *name, struct in_addr *address)
{
	size_t i = 0;

	while (i < network->nnames && strcmp(network->names[i], name) != 0)
		i++;
	if (i == NETWORK_NAMES)
		return NULL;
	if (i == network->nnames)
		memcpy(network->names[network->nnames++], name, strlen(name) + 1);
	address->s_addr = htonl(MADE_UP + 1 + (uint32_t)i);
	return address;
}

static size_t
answer(
    struct served *network, unsigned char message[DNS_BYTES], const struct dns_question *question)
{
	struct in_addr address;
	const struct in_addr *made;

	if (!domain_permits(&network->domains, question->name, 0)) {
		refuse(network, question->name, 0, "not allowed");
		return dns_answer(message, question, DNS_NO_NAME, NULL);
	}
	if (question->type != DNS_A)
		return dns_answer(message, question, DNS_OK, NULL);
	made = stand_in(network, question->name, &address);
	return dns_answer(message, question, made != NULL ? DNS_OK : DNS_FAILED, made);
}

static void
on_questions(void *self, uint32_t events)
{
	struct served *network = self;
	unsigned char message[DNS_BYTES];
	struct dns_question question;

	(void)events;
	for (unsigned i = 0; i < BATCH; i++) {
		union address from;
		socklen_t size = sizeof from;
		/* Room for one record behind the question. */
		ssize_t n = recvfrom(
		    network->fds[0], message, sizeof message - 16, MSG_DONTWAIT, &from.any, &size);

		if (n < 0)
			return;
		if (dns_read_question(message, (size_t)n, &question) < 0)
			continue;
		sendto(network->fds[0], message, answer(network, message, &question), MSG_DONTWAIT,
		    &from.any, size);
	}
}

/* ---- connections ---- */

/* The name and port that a connection was made to.  false: that address stands for none. */
static bool
meant(const struct served *network, int sock, const char **name, uint16_t *port)
{
	union address to = { 0 };
	socklen_t size = sizeof to;

	if (getsockname(sock, &to.any, &size) < 0 || to.any.sa_family != AF_INET)
		return false;

	uint32_t at = ntohl(to.v4.sin_addr.s_addr) - MADE_UP - 1;

	*port = ntohs(to.v4.sin_port);
	if (at >= network->nnames)
		return false;
	*name = network->names[at];
	return true;
}

/* An address that a program made up, or kept from an earlier run. */
static void
refuse_address(struct served *network, int sock)
{
	union address to = { 0 };
	socklen_t size = sizeof to;
	char name[INET_ADDRSTRLEN];

	if (getsockname(sock, &to.any, &size) == 0 && to.any.sa_family == AF_INET &&
	    inet_ntop(AF_INET, &to.v4.sin_addr, name, sizeof name) != NULL)
		refuse(network, name, ntohs(to.v4.sin_port), "this address stands for no name");
}

/* Connections of all runs of that principal. */
static size_t
open_of(const char *principal)
{
	size_t n = 0;

	for (const struct served *at = first; at != NULL; at = at->next)
		if (strcmp(at->call->owner.principal, principal) == 0)
			n += at->open;
	return n;
}

/* Why a connection to that name and port is not made; NULL: it is. */
static const char *
why_not(const struct served *network, const char *name, uint16_t port)
{
	if (!domain_permits(&network->domains, name, port))
		return "not allowed at this port";
	if (network->open >= options.max_connections)
		return "too many connections at once";
	if (open_of(network->call->owner.principal) >= options.max_connections_each)
		return "too many connections of all your runs";
	return NULL;
}

static void
take_connection(struct served *network, int accepted)
{
	auto_fd int sock = accepted;
	const char *name = NULL, *why;
	uint16_t port;

	if (!meant(network, sock, &name, &port)) {
		refuse_address(network, sock);
	} else if ((why = why_not(network, name, port)) != NULL) {
		refuse(network, name, port, why);
	} else {
		relay_begin(network, take_fd(&sock), name, port);
		return;
	}
	relay_reset(sock);
}

static void
listen_again(void *self)
{
	struct served *network = self;
	struct err e;

	network->pause = 0;
	for (size_t i = 1; i < network->nfds; i++)
		loop_change(network->fds[i], EPOLLIN, &e);
}

/* A connection that cannot be accepted would be reported for ever. */
static void
pause_connections(struct served *network)
{
	struct err e;

	for (size_t i = 1; i < network->nfds; i++)
		loop_change(network->fds[i], 0, &e);
	network->pause = loop_after(PAUSE_MS, listen_again, network);
}

static void
on_connections(void *self, uint32_t events)
{
	struct served *network = self;

	(void)events;
	for (size_t i = 1; i < network->nfds && network->pause == 0; i++)
		for (unsigned n = 0; n < BATCH; n++) {
			int sock =
			    accept4(network->fds[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

			if (sock < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
				pause_connections(network);
			if (sock < 0)
				break;
			take_connection(network, sock);
		}
}

/* ---- begin and end ---- */

static void
free_network(struct served *network)
{
	struct served **link = &first;

	while (*link != NULL && *link != network)
		link = &(*link)->next;
	if (*link == network)
		*link = network->next;
	relay_end_all(network);
	loop_unset(network->pause);
	while (network->nfds > 0) {
		loop_forget(network->fds[--network->nfds]);
		close(network->fds[network->nfds]);
	}
	texts_clear(&network->domains);
	texts_clear(&network->bound);
	free(network->secretd);
	free(network->id);
	free(network);
}

static struct served *
find(const char *id)
{
	struct served *network = first;

	while (network != NULL && strcmp(network->id, id) != 0)
		network = network->next;
	return network;
}

static void
report_and_free(struct served *network)
{
	struct network_report report;
	struct call *call = network->call;
	struct err e;

	relay_end_all(network);
	report = (struct network_report){ .connections = network->connections,
		.bytes_in = network->bytes_in,
		.bytes_out = network->bytes_out };

	int r = attempt_report(&network->attempts, &report);

	free_network(network);
	if (r == 0) {
		call_reply(call, &report);
	} else {
		err_set(&e, ERR_internal, "no memory for a report");
		call_fail(call, &e);
	}
	message_clear(MSG_network_report, &report);
}

/* The executor has ended, or no longer waits. */
static void
cancelled(struct call *call, enum err_code why)
{
	(void)why;
	report_and_free(call->self);
}

static int
watch(struct served *network, struct err *e)
{
	for (size_t i = 0; i < network->nfds; i++)
		if (loop_watch(network->fds[i], EPOLLIN, i == 0 ? on_questions : on_connections,
			network, e) < 0)
			return -1;
	return 0;
}

/* The executor starts the program after this part. */
static int
tell_serving(struct call *call, struct err *e)
{
	struct stream_part part = { .channel = channel_progress, .text = blob_text("serving") };

	return call_stream(call, &part) == 0
	           ? 0
	           : err_set(e, ERR_unavailable, "network: the executor does not listen");
}

int
network_on_serve_network(struct call *call, void *body, struct err *e)
{
	struct serve_network *request = body;
	struct served *network;

	if (find(request->network) != NULL)
		return err_set(e, ERR_invalid_argument, "network: %s exists", request->network);
	network = calloc(1, sizeof *network);
	if (network == NULL)
		return err_sys(e, "network");
	network->id = take_ptr(request->network);
	network->domains = request->domains;
	request->domains = (struct texts){ 0 };
	network->bound = request->bound;
	request->bound = (struct texts){ 0 };
	network->secretd = take_ptr(request->secretd);
	network->next = first;
	first = network;
	network->call = call;
	network->nfds = passed_take(network->id, network->fds);
	if (network->nfds < 2 || watch(network, e) < 0 || tell_serving(call, e) < 0) {
		if (network->nfds < 2)
			err_set(e, ERR_invalid_argument, "network: no sockets were passed");
		free_network(network);
		return -1;
	}
	call->self = network;
	call->on_cancel = cancelled;
	return 0;
}

int
network_on_end_network(struct call *call, void *body, struct err *e)
{
	const struct end_network *request = body;
	struct served *network = find(request->network);
	struct nothing nothing = { 0 };

	if (network == NULL)
		return err_set(e, ERR_not_found, "network: %s is not served", request->network);
	report_and_free(network);
	call_reply(call, &nothing);
	return 0;
}

int
network_open(struct err *e)
{
	if (passed_open(e) == 0)
		return 0;
	if (e->code != ERR_not_found)
		return -1;
	log_warn("no network can be served", LOG_E(e));
	return 0;
}

void
network_close(void)
{
	while (first != NULL)
		report_and_free(first);
	passed_close();
}
