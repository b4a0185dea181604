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

static void
receive(void)
{
	struct handover handover;

	while (handover_take(passed.listener, &handover)) {
		if (passed.count == PASSED) {
			log_warn("sockets that no run asked for are closed",
			    LOG_S("run", passed.all[0].handover.name));
			forget(0);
		}
		passed.all[passed.count++] =
		    (struct waiting){ handover, loop_now_us() + PASSED_MS * INT64_C(1000) };
	}
}

size_t
passed_take(const char *run, int *fds)
{
	size_t count = 0;

	forget_old();
	receive();
	for (size_t i = 0; i < passed.count && count == 0; i++) {
		struct handover *handover = &passed.all[i].handover;

		if (strcmp(handover->name, run) != 0)
			continue;
		count = handover->nfds;
		memcpy(fds, handover->fds, count * sizeof *fds);
		handover->nfds = 0;
		forget(i);
	}
	return count;
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
