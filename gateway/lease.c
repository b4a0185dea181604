/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.c - asks `cloister serve` for the daemons when a call needs them after their end.
 *
 * Trusts the process at the other end of the socket pair, which started this one. The lease ends
 * with this process. Only a call renews it: a client that is merely connected keeps nothing from
 * being stopped.
 */
#include "gateway/lease.h"

#include "gateway/options.h"

#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"
#include "common/bus/bus.h"
#include "common/daemon/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { RECENT_MS = 10000 }; /* a call that may still wait for a server */

static enum { NONE, HELD, LOST, ASKED } lease;
static int64_t wanted_ms = -RECENT_MS, renewed_ms = -RECENT_MS; /* the last time */

int
lease_open(struct err *e)
{
	if (options.lease == 0 || fcntl((int)options.lease, F_SETFD, FD_CLOEXEC) == 0)
		return 0;
	return err_sys(e, "lease: descriptor %d", (int)options.lease);
}

static void
renew(void)
{
	if (send((int)options.lease, LEASE_WANTED, strlen(LEASE_WANTED),
		MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
	log_info("starting the daemons again");
	lease = ASKED;
	renewed_ms = loop_now_ms();
}

void
lease_want(void)
{
	wanted_ms = loop_now_ms();
	if (lease == LOST)
		renew();
}

static void
refuse_waiting(const char *why)
{
	struct err e;

	log_warn("the daemons of this server do not run", LOG_S("why", why));
	err_set(&e, ERR_unavailable,
	    "the daemons of this server do not run: %.120s; run `cloister up`, which says more",
	    why);
	bus_refuse_waiting(&e);
}

/* Calls that came while the daemons were stopping wait for the next ones. Those that have waited
 * since the last start would wait in vain: no server connected. */
static void
on_lost(void)
{
	bool calls = bus_waiting() > 0 && loop_now_ms() - wanted_ms < RECENT_MS;

	lease = LOST;
	log_info("the daemons have stopped; the next call starts them");
	if (calls && wanted_ms > renewed_ms)
		renew();
	else if (calls)
		refuse_waiting("they ended when they had just been started");
}

static void
on_text(char *text)
{
	if (strcmp(text, LEASE_LOST) == 0) {
		on_lost();
	} else if (strcmp(text, LEASE_HELD) == 0) {
		lease = HELD;
	} else {
		lease = LOST;
		utf8_tame(text);
		refuse_waiting(text);
	}
}

static void
on_readable(void *self, uint32_t events)
{
	char text[LEASE_BYTES];
	ssize_t n = recv((int)options.lease, text, sizeof text - 1, MSG_DONTWAIT);

	(void)self, (void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		text[n] = '\0';
		on_text(text);
		return;
	}
	log_warn("nothing starts the daemons again if they stop: the process of the lease ended");
	loop_forget((int)options.lease);
	lease = NONE;
}

int
lease_start(struct err *e)
{
	if (options.lease == 0)
		return 0;
	lease = HELD;
	return loop_watch((int)options.lease, EPOLLIN, on_readable, NULL, e);
}
