/* SPDX-License-Identifier: Apache-2.0 */
/* passed.c - a table of handovers, oldest first.  Trusts the executor for their names. */
#include "executor/egress/passed.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/daemon/handover.h"

#include <string.h>

struct waiting {
	struct handover handover;
	int64_t until_us;
};

static struct {
	struct waiting all[PASSED];
	size_t count;
	int listener;
} passed = { .listener = -1 };

static void
forget(size_t at)
{
	handover_clear(&passed.all[at].handover);
	passed.count--;
	memmove(&passed.all[at], &passed.all[at + 1], (passed.count - at) * sizeof passed.all[0]);
}

/* A run that was passed but never served has failed in the executor. */
static void
forget_old(void)
{
	while (passed.count > 0 && passed.all[0].until_us <= loop_now_us())
		forget(0);
}

/* true: the newest entry is the next message that waited in the endpoint. */
static bool
receive(void)
{
	struct handover handover;

	if (!handover_take(passed.listener, &handover))
		return false;
	if (passed.count == PASSED) {
		log_warn("sockets that no run asked for are closed",
		    LOG_S("run", passed.all[0].handover.name));
		forget(0);
	}
	passed.all[passed.count++] =
	    (struct waiting){ handover, loop_now_us() + PASSED_MS * INT64_C(1000) };
	return true;
}

static size_t
take(size_t at, int *fds)
{
	struct handover *handover = &passed.all[at].handover;
	size_t count = handover->nfds;

	memcpy(fds, handover->fds, count * sizeof *fds);
	handover->nfds = 0;
	forget(at);
	return count;
}

/* No more is received than is needed.  So many runs that begin at once wait in the endpoint, and
 * do not displace each other here. */
size_t
passed_take(const char *run, int *fds)
{
	forget_old();
	for (size_t i = 0; i < passed.count; i++)
		if (strcmp(passed.all[i].handover.name, run) == 0)
			return take(i, fds);
	while (receive())
		if (strcmp(passed.all[passed.count - 1].handover.name, run) == 0)
			return take(passed.count - 1, fds);
	return 0;
}

int
passed_open(struct err *e)
{
	passed.listener = handover_open(PEER_executor, PEER_egress, e);
	return passed.listener < 0 ? -1 : 0;
}

void
passed_close(void)
{
	while (passed.count > 0)
		forget(0);
	if (passed.listener >= 0)
		close(take_fd(&passed.listener));
}
