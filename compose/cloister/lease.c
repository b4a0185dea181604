/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.c - takes a lease on the user's daemons, and renews it for as long as a gateway runs.
 *
 * The gateway can start no supervisor in its jail, and it is the process that the client started.
 * So a small child of it keeps the lease.  After the end of the daemons (`cloister down`, a killed
 * supervisor) it takes a new lease at the gateway's next call, and not before: otherwise `cloister
 * down` would stop nothing while a client is connected.
 *
 * Trusts the gateway only to say that it needs the daemons; their settings are those of this
 * command.  It ends with the gateway, whose end of the socket pair is closed then.
 */
#include "compose/cloister/lease.h"

#include "compose/cloister/differences.h"
#include "compose/cloister/place.h"
#include "compose/cloister/reach.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum {
	RETRY_MS = 20,
	ENDING_MS = 8000, /* for the daemons of a supervisor that was killed */
};

/* ---- taking ---- */

static int
start_with_lease(struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");

	auto_fd int mine = pair[0], theirs = pair[1];

	return reach_start(theirs, e) < 0 ? -1 : take_fd(&mine);
}

static int
refuse_ending(struct err *e)
{
	err_set(e, ERR_unavailable, "daemons whose supervisor has ended still run");
	return LEASE_ENDING;
}

int
lease_take(struct err *e)
{
	auto_fd int run = place_open_run(e);
	auto_fd int state = run < 0 ? -1 : place_open_state(e);

	if (state < 0)
		return -1;

	auto_fd int lease = reach_lease(e);

	if (lease < 0 && e->code != ERR_not_found)
		return -1;
	if (lease < 0 && !reach_daemons_run())
		return start_with_lease(e);
	if (lease < 0 && reach_supervised(run))
		return refuse_ending(e);
	if (differences_check(e) < 0)
		return -1;
	return lease < 0 ? 0 : take_fd(&lease);
}

/* ---- keeping ---- */

/* Waits for daemons that end, unless the gateway ends before. */
static int
renew(int gateway, struct err *e)
{
	int64_t until = loop_now_ms() + ENDING_MS;

	for (;;) {
		struct pollfd end = { .fd = gateway };
		int lease = lease_take(e);

		if (lease != LEASE_ENDING || loop_now_ms() > until || poll(&end, 1, RETRY_MS) > 0)
			return lease;
	}
}

/* A gateway that reads nothing has ended, or is not the one that was started. */
static void
say(int gateway, const char *text)
{
	if (send(gateway, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* -1: the gateway has ended. */
static int
answer(int gateway, int *lease)
{
	char text[LEASE_BYTES];
	ssize_t n = recv(gateway, text, sizeof text, MSG_DONTWAIT);
	struct err e;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	if (*lease < 0)
		*lease = renew(gateway, &e);
	say(gateway, *lease < 0 ? e.text : LEASE_HELD);
	if (*lease == 0) /* somebody else's daemons run */
		*lease = -1;
	return 0;
}

static void
keep(int gateway, int lease)
{
	if (lease < 0)
		say(gateway, LEASE_LOST);
	for (;;) {
		struct pollfd fds[] = { { gateway, POLLIN, 0 }, { lease, POLLIN, 0 } };

		if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
			return;
		/* A supervisor sends nothing to a client that has a lease, so this is its end. */
		if (lease >= 0 && fds[1].revents != 0) {
			close(lease);
			lease = -1;
			say(gateway, LEASE_LOST);
		}
		if (fds[0].revents != 0 && answer(gateway, &lease) < 0)
			return;
	}
}

/* The client waits for the end of its streams, and the terminal's signals are the gateway's. */
static int
leave_client(int gateway, int lease)
{
	unsigned low = (unsigned)(lease < 0 || gateway < lease ? gateway : lease),
		 high = (unsigned)(gateway > lease ? gateway : lease);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    setsid() < 0 || chdir("/") < 0)
		return -1;
	if ((low > 3 && close_range(3, low - 1, 0) < 0) ||
	    (high > low + 1 && close_range(low + 1, high - 1, 0) < 0))
		return -1;
	return close_range(high + 1, ~0U, 0);
}

int
lease_keep(int lease, struct err *e)
{
	auto_fd int held = lease;
	char self[PLACE_PATH];
	int pair[2];

	if (place_self(self, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");

	auto_fd int gateway = pair[0], mine = pair[1];
	pid_t pid = fork();

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		prctl(PR_SET_NAME, "cloister-lease");
		if (leave_client(mine, held) == 0)
			keep(mine, held);
		_exit(0);
	}
	return take_fd(&gateway);
}
