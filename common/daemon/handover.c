/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c - one message for each connection.  Trusts the mode of the edge's directory. */
#include "common/daemon/handover.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
	BACKLOG = 128,
	SEND_MS = 100,
};

static int
address_of(enum peer client, enum peer server, const char *instance, struct sockaddr_un *address,
    struct err *e)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };

	int n = snprintf(address->sun_path, sizeof address->sun_path, "%s/%s-%s/%s.fds",
	    daemon_run(), edge_peer_name(client), edge_peer_name(server), instance);

	if (n < 0 || (size_t)n >= sizeof address->sun_path)
		return err_set(e, ERR_invalid_argument,
		    "the path of the run directory is too long for a unix socket");
	return 0;
}

int
handover_open(enum peer client, enum peer self, struct err *e)
{
	struct sockaddr_un address;

	if (address_of(client, self, daemon_instance(), &address, e) < 0)
		return -1;
	auto_fd int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return err_sys(e, "socket");
	unlink(address.sun_path);

	mode_t before = umask(0117);
	int r = bind(sock, (struct sockaddr *)&address, sizeof address);

	umask(before);
	if (r < 0 && errno == ENOENT)
		return err_set(e, ERR_not_found,
		    "descriptors cannot be passed over TCP: %s needs %s on its own host",
		    edge_peer_name(self), edge_peer_name(client));
	if (r < 0 || listen(sock, BACKLOG) < 0)
		return err_sys(e, "listen on %s", address.sun_path);
	return take_fd(&sock);
}

int
handover_give(enum peer self, enum peer server, const char *instance,
    const struct handover *handover, struct err *e)
{
	struct sockaddr_un address;

	if (address_of(self, server, instance, &address, e) < 0)
		return -1;
	auto_fd int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0 || connect(sock, (struct sockaddr *)&address, sizeof address) < 0 ||
	    fdio_send(sock, handover->name, sizeof handover->name, handover->fds, handover->nfds) !=
		(ssize_t)sizeof handover->name) {
		err_sys(e, "pass descriptors");
		return err_set(e, ERR_unavailable, "%s cannot be reached", edge_peer_name(server));
	}
	return 0;
}

/* A client that has connected sends at once; only one that was stopped in between lets us wait. */
static bool
receive(int sock, struct handover *handover)
{
	struct pollfd one = { .fd = sock, .events = POLLIN };

	handover->nfds = 0;
	if (poll(&one, 1, SEND_MS) != 1)
		return false;
	handover->nfds = HANDOVER_FDS;
	return fdio_receive(sock, handover->name, sizeof handover->name, handover->fds,
		   &handover->nfds, 0) == (ssize_t)sizeof handover->name &&
	       handover->name[HANDOVER_NAME - 1] == '\0';
}

bool
handover_take(int listener, struct handover *handover)
{
	for (;;) {
		auto_fd int sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (sock < 0)
			return false;
		if (receive(sock, handover))
			return true;
		handover_clear(handover);
	}
}

void
handover_clear(struct handover *handover)
{
	while (handover->nfds > 0)
		close(handover->fds[--handover->nfds]);
}
