/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.c - from a program's connection to the end of the one outside.
 *
 * Theory of operation.  A connection passes through these phases: the first bytes of the program
 * are peeked at, and name the server that was resolved, or it is refused; the name is resolved
 * here; each address that is public is tried; then bytes are spliced both ways, through a pipe for
 * each direction.  The address that was checked is the one that is connected to, so an answer that
 * changes between two questions has no effect.  One timer covers each phase.
 *
 * A connection to a name with credentials is secretd's when it is connected.
 *
 * At other ports than 80 and 443 a server may speak first, so nothing is peeked at.
 *
 * Trusts neither the program nor the server.
 */
#include "executor/egress/relay.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/handover.h"
#include "executor/egress/client_hello.h"
#include "executor/egress/options.h"
#include "executor/egress/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	CHUNK = 65536, /* a pipe's capacity */
	HTTP = 80,
	HTTPS = 443,
	PEEK_AGAIN_MS = 20,
};

/* One direction. */
struct flow {
	int from, to, pipe[2];
	size_t held;   /* bytes in the pipe */
	bool ended;    /* from has no more */
	bool finished; /* and all of it was passed on */
	uint64_t moved, *counts[2];
};

struct relay {
	struct relay *next, **link;
	struct served *network;
	int inside, outside;
	char name[DOMAIN_NAME];
	uint16_t port;
	struct resolution *resolution;
	union address addresses[RESOLVER_ADDRESSES];
	size_t naddresses, tried;
	uint64_t timer, again; /* deadline of the phase; next look at the first bytes */
	struct flow up, down;
	bool watched[2];  /* inside, outside */
	uint64_t nowhere; /* counts without an entry of this name */
};

/* ---- the end ---- */

static void
end_relay(struct relay *r)
{
	int *fds[] = { &r->inside, &r->outside, &r->up.pipe[0], &r->up.pipe[1], &r->down.pipe[0],
		&r->down.pipe[1] };

	loop_unset(r->timer);
	loop_unset(r->again);
	resolver_cancel(r->resolution);
	if (r->inside >= 0)
		loop_forget(r->inside);
	if (r->outside >= 0)
		loop_forget(r->outside);
	for (size_t i = 0; i < COUNT(fds); i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
	*r->link = r->next;
	if (r->next != NULL)
		r->next->link = r->link;
	r->network->open--;
	free(r);
}

void
relay_end_all(struct served *network)
{
	while (network->relays != NULL)
		end_relay(network->relays);
}

/* connect(2) to no address does it. */
void
relay_reset(int sock)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	(void)connect(sock, &none, sizeof none);
}

/* The program sees a connection that is reset. */
static void
refuse(struct relay *r, const char *why)
{
	attempt_refuse(&r->network->attempts, r->network->call, r->name, r->port, why);
	relay_reset(r->inside);
	end_relay(r);
}

static void
late(void *self)
{
	struct relay *r = self;

	r->timer = 0;
	if (r->up.pipe[0] >= 0)
		end_relay(r);
	else
		refuse(r, "no answer in time");
}

static void
set_timer(struct relay *r, uint64_t ms, void (*fire)(void *))
{
	loop_unset(r->timer);
	r->timer = loop_after((int64_t)ms, fire, r);
}

/* ---- copying ---- */

static bool
has_budget(const struct served *network)
{
	return network->bytes_in + network->bytes_out < options.max_bytes;
}

static void
count(struct flow *flow, size_t bytes)
{
	flow->moved += bytes;
	for (size_t i = 0; i < COUNT(flow->counts); i++)
		*flow->counts[i] += bytes;
}

/* -1: the connection is broken. */
static int
move(struct flow *flow)
{
	const unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
	ssize_t n = 0;

	if (!flow->ended && flow->held == 0) {
		n = splice(flow->from, NULL, flow->pipe[1], NULL, CHUNK, flags);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		flow->ended = n == 0;
		if (n > 0) {
			flow->held = (size_t)n;
			count(flow, (size_t)n);
		}
	}
	if (flow->held > 0) {
		n = splice(flow->pipe[0], NULL, flow->to, NULL, flow->held, flags);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		flow->held -= n > 0 ? (size_t)n : 0;
	}
	if (flow->ended && flow->held == 0 && !flow->finished) {
		flow->finished = true;
		shutdown(flow->to, SHUT_WR);
	}
	return 0;
}

static uint32_t
wanted(const struct flow *reads, const struct flow *writes)
{
	return (!reads->ended && reads->held == 0 ? EPOLLIN : 0u) |
	       (writes->held > 0 ? EPOLLOUT : 0u);
}

/* A descriptor of which nothing is wanted is not watched at all: epoll(7) reports EPOLLHUP
 * always. */
static int
want(struct relay *r, int side, uint32_t events, void (*on_event)(void *, uint32_t))
{
	int fd = side == 0 ? r->inside : r->outside;
	bool watched = r->watched[side];
	struct err e;

	r->watched[side] = events != 0;
	if (events == 0 && watched)
		loop_forget(fd);
	if (events == 0)
		return 0;
	return watched ? loop_change(fd, events, &e) : loop_watch(fd, events, on_event, r, &e);
}

static void
on_data(void *self, uint32_t events)
{
	struct relay *r = self;
	uint64_t held = r->up.held + r->down.held, moved = r->up.moved + r->down.moved;

	/* Both ends of a reset connection would be reported for ever. */
	if (move(&r->up) < 0 || move(&r->down) < 0 || (r->up.finished && r->down.finished) ||
	    (events & EPOLLERR) != 0) {
		end_relay(r);
		return;
	}
	if (!has_budget(r->network)) {
		refuse(r, "the run's limit of bytes is reached");
		return;
	}
	if (want(r, 0, wanted(&r->up, &r->down), on_data) < 0 ||
	    want(r, 1, wanted(&r->down, &r->up), on_data) < 0) {
		end_relay(r);
		return;
	}
	/* An event without progress does not move the deadline. */
	if (held != r->up.held + r->down.held || moved != r->up.moved + r->down.moved)
		set_timer(r, options.idle_ms, late);
}

static int
open_flow(struct flow *flow, int from, int to)
{
	flow->from = from;
	flow->to = to;
	return pipe2(flow->pipe, O_CLOEXEC | O_NONBLOCK);
}

static void
count_for(struct relay *r, struct attempt *attempt)
{
	r->up.counts[0] = &r->network->bytes_out;
	r->down.counts[0] = &r->network->bytes_in;
	r->up.counts[1] = attempt != NULL ? &attempt->bytes_out : &r->nowhere;
	r->down.counts[1] = attempt != NULL ? &attempt->bytes_in : &r->nowhere;
	r->network->connections++;
	if (attempt != NULL)
		attempt->connections++;
}

static void
copy(struct relay *r)
{
	struct served *network = r->network;

	loop_forget(r->outside);
	if (open_flow(&r->up, r->inside, r->outside) < 0 ||
	    open_flow(&r->down, r->outside, r->inside) < 0 || want(r, 0, EPOLLIN, on_data) < 0 ||
	    want(r, 1, EPOLLIN, on_data) < 0) {
		refuse(r, "egress lacks descriptors");
		return;
	}
	count_for(r, attempt_use(&network->attempts, network->call, r->name, r->port));
	set_timer(r, options.idle_ms, late);
}

/* ---- names with credentials ---- */

static bool
is_bound(const struct relay *r)
{
	const struct texts *bound = &r->network->bound;

	for (size_t i = 0; r->port == HTTPS && i < bound->count; i++)
		if (strcmp(bound->items[i], r->name) == 0)
			return true;
	return false;
}

/* secretd gets both sockets, in which the program's first bytes still are, and has them alone from
 * then on. */
static void
hand_over(struct relay *r)
{
	struct served *network = r->network;
	struct handover handover = { .fds = { r->inside, r->outside }, .nfds = 2 };
	struct err e;

	snprintf(handover.name, sizeof handover.name, "%s %s", network->id, r->name);
	if (network->secretd == NULL ||
	    handover_give(PEER_egress, PEER_secretd, network->secretd, &handover, &e) < 0) {
		refuse(r, "secretd, which has its credentials, cannot be reached");
		return;
	}
	count_for(r, attempt_use(&network->attempts, network->call, r->name, r->port));
	end_relay(r);
}

/* ---- connecting ---- */

static void try_next(struct relay *);

static void
next_after_time(void *self)
{
	struct relay *r = self;

	r->timer = 0;
	try_next(r);
}

static void
on_connected(void *self, uint32_t events)
{
	struct relay *r = self;
	int error = 0;
	socklen_t size = sizeof error;

	(void)events;
	if (getsockopt(r->outside, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error != 0)
		try_next(r);
	else if (is_bound(r))
		hand_over(r);
	else
		copy(r);
}

static int
connect_to(struct relay *r, const union address *address)
{
	struct err e;

	r->outside = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->outside < 0 ||
	    (connect(r->outside, &address->any, address_size(address)) < 0 && errno != EINPROGRESS))
		return -1;
	return loop_watch(r->outside, EPOLLOUT, on_connected, r, &e);
}

static void
try_next(struct relay *r)
{
	if (r->outside >= 0) {
		loop_forget(r->outside);
		close(take_fd(&r->outside));
	}
	while (r->tried < r->naddresses) {
		set_timer(r, options.connect_ms, next_after_time);
		if (connect_to(r, &r->addresses[r->tried++]) == 0)
			return;
		if (r->outside >= 0)
			close(take_fd(&r->outside));
	}
	refuse(r, "the server cannot be reached");
}

/* ---- resolving ---- */

static void
resolved(void *self, const union address *addresses, size_t n)
{
	struct relay *r = self;

	r->resolution = NULL;
	for (size_t i = 0; i < n; i++)
		if (address_is_permitted(&addresses[i])) {
			r->addresses[r->naddresses] = addresses[i];
			address_set_port(&r->addresses[r->naddresses++], r->port);
		}
	if (n == 0)
		refuse(r, "the name has no address");
	else if (r->naddresses == 0)
		refuse(r, "its address is not public");
	else
		try_next(r);
}

static void
resolve(struct relay *r)
{
	loop_unset(r->timer);
	loop_unset(r->again);
	r->timer = r->again = 0;
	r->resolution = resolver_ask(r->name, resolved, r);
	if (r->resolution == NULL)
		refuse(r, "egress lacks descriptors");
}

/* ---- the first bytes ---- */

static enum hello_name
read_hello_name(
    const struct relay *r, const unsigned char *data, size_t size, char name[DOMAIN_NAME])
{
	return r->port == HTTPS ? client_hello_of_tls(data, size, name)
	                        : client_hello_of_http((const char *)data, size, name);
}

static void on_hello(void *self, uint32_t events);

static void
look_again(void *self)
{
	struct relay *r = self;
	struct err e;

	r->again = 0;
	if (loop_watch(r->inside, EPOLLIN, on_hello, r, &e) < 0)
		end_relay(r);
}

/* The bytes stay in the socket. */
static void
on_hello(void *self, uint32_t events)
{
	static unsigned char data[HELLO_BYTES];
	struct relay *r = self;
	char name[DOMAIN_NAME];
	ssize_t n = recv(r->inside, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);

	(void)events;
	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			end_relay(r);
		return;
	}

	enum hello_name found = read_hello_name(r, data, (size_t)n, name);

	loop_forget(r->inside);
	if (found == HELLO_MORE)
		r->again = loop_after(PEEK_AGAIN_MS, look_again, r);
	else if (found == HELLO_NAMED && strcmp(name, r->name) == 0)
		resolve(r);
	else
		refuse(r, r->port == HTTPS ? "the TLS server name is another one, or missing"
					   : "the Host of the request is another one, or missing");
}

void
relay_begin(struct served *network, int sock, const char *name, uint16_t port)
{
	struct relay *r = calloc(1, sizeof *r);

	if (r == NULL) {
		close(sock);
		return;
	}
	*r = (struct relay){
		.network = network,
		.next = network->relays,
		.link = &network->relays,
		.inside = sock,
		.outside = -1,
		.port = port,
		.up = { .pipe = { -1, -1 } },
		.down = { .pipe = { -1, -1 } },
	};
	memcpy(r->name, name, strlen(name) + 1);
	if (r->next != NULL)
		r->next->link = &r->next;
	network->relays = r;
	network->open++;
	if (port != HTTP && port != HTTPS) {
		resolve(r);
		return;
	}
	set_timer(r, options.connect_ms, late);
	look_again(r);
}
