/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_helper_process.c - starts and ends file helpers, each as pid 1 of its own namespaces.
 *
 * Trusts the order's numbers, which order_check() passed.
 */
#include "executor/builder/files/file_helper_process.h"

#include "common/base/loop.h"
#include "executor/builder/spawn.h"
#include "executor/guest/protocol.h"

#include <unistd.h>

static const struct host *host;
static struct filter filter;

int
file_helper_process_open(const struct host *h, struct err *e)
{
	host = h;
	return filter_make(&filter, FILTER_FILE_HELPER, e);
}

static void
run(void)
{
	_exit(file_helper_main(GUEST_CONTROL_FD));
}

static void
ended(struct process *p)
{
	process_forget(p);
	process_reap(p);
	process_bury(p);
}

static const struct process_kind kind = {
	.size = sizeof(struct process),
	.filters = 1,
	.started = process_tell_started,
	.ended = ended,
};

int
file_helper_process_order(const struct order *order, const int *fds, size_t nfds, struct err *e)
{
	struct process *p = process_new(&kind, order, e);
	const struct spawn spawn = {
		.kind = CONFINE_FILE_HELPER,
		.host = host,
		.filter = &filter,
		.room = { .memory_bytes = order->memory_bytes },
		.began_us = loop_now_us(),
		.net = -1,
		.tmp = -1,
		.fds = fds,
		.nfds = nfds,
		.run = run,
	};

	if (p == NULL)
		return -1;
	if (spawn_pid1(p, &spawn, e) < 0) {
		process_discard(p);
		return -1;
	}
	process_add(p);
	process_watch(p);
	return 0;
}
