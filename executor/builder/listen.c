/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - makes the sockets of a network, for egress.
 *
 * The one for DNS is in the box's network namespace, at its loopback.  Those for connections are in
 * a second namespace behind a link, so the box's programs have all ports for their own servers.
 * Without veth they are in the box's.
 *
 * Trusts the order's ports, which order_check() passed.
 */
#include "executor/builder/listen.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "executor/builder/answer.h"
#include "executor/builder/link.h"
#include "executor/builder/nets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum {
	DNS = 53,
	BACKLOG = 128,
};

static bool no_veth; /* this kernel has none */

/* The route stays in the box's namespace, which is therefore its own far one: it is never used
 * again. */
static int
connect_alone(int net, int *far, struct err *e)
{
	if (*far < 0 && (*far = fcntl(net, F_DUPFD_CLOEXEC, 0)) < 0)
		return err_sys(e, "a box's network");
	return link_alone(net, e);
}

static int
connect_box(int net, int *far, struct err *e)
{
	if (no_veth)
		return connect_alone(net, far, e);
	if (*far < 0 && (*far = nets_take(e)) < 0)
		return -1;
	if (link_pair(net, *far, e) == 0)
		return 0;
	if (e->sys != EOPNOTSUPP)
		return -1;
	nets_give(*far);
	*far = -1;
	no_veth = true;
	log_warn("programs cannot listen at ports that they may reach outside: no veth", LOG_E(e));
	return connect_alone(net, far, e);
}

/* In the current namespace.  A socket for questions shares its port with no other one, or a program
 * could answer the questions of others. */
static int
listen_at(int type, uint32_t address, uint16_t port, struct err *e)
{
	auto_fd int sock = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = { htonl(address) }
	};
	int one = 1;

	if (sock < 0 ||
	    (type == SOCK_STREAM &&
		setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0) ||
	    bind(sock, (const struct sockaddr *)&at, sizeof at) < 0 ||
	    (type == SOCK_STREAM && listen(sock, BACKLOG) < 0))
		return err_sys(e, "listen on port %u of the box", port);
	return take_fd(&sock);
}

static int
listen_for_questions(int net, int *fd, struct err *e)
{
	nets_enter(net);
	*fd = listen_at(SOCK_DGRAM, INADDR_LOOPBACK, DNS, e);
	nets_leave();
	return *fd < 0 ? -1 : 0;
}

static int
listen_for_connections(int net, const uint16_t *ports, int *fds, size_t *nfds, struct err *e)
{
	int r = 0;

	nets_enter(net);
	for (size_t i = 0; r == 0 && i < ORDER_MAX_PORTS && ports[i] != 0; i++) {
		fds[*nfds] = listen_at(SOCK_STREAM, INADDR_ANY, ports[i], e);
		if (fds[*nfds] < 0)
			r = -1;
		else
			++*nfds;
	}
	nets_leave();
	return r;
}

static int
make_sockets(int net, int *far, const struct order *order, int *fds, size_t *nfds, struct err *e)
{
	if (connect_box(net, far, e) < 0 || listen_for_questions(net, fds, e) < 0)
		return -1;
	*nfds = 1;
	return listen_for_connections(*far, order->ports, fds, nfds, e);
}

int
listen_for(int net, int *far, const struct order *order, struct err *e)
{
	struct answer answer = { .kind = ANSWER_STARTED, .id = order->id };
	int fds[1 + ORDER_MAX_PORTS];
	size_t nfds = 0;

	if (!nets_have_loopback())
		return err_set(e, ERR_isolation_unavailable, "boxes have no loopback here");

	int r = make_sockets(net, far, order, fds, &nfds, e);

	if (r == 0) {
		answer_send(&answer, fds, nfds);
		answer.kind = ANSWER_ENDED;
		answer_send(&answer, NULL, 0);
	}
	while (nfds > 0)
		close(fds[--nfds]);
	return r;
}

/* One with a link is never used again, whatever its counters say. */
void
listen_end(int net, int far)
{
	if (far < 0) {
		nets_give(net);
		return;
	}
	close(far);
	close(net);
}
