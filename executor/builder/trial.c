/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - one box without the event loop.  Trusts reports, which no guest can write. */
#include "executor/builder/trial.h"

#include "common/base/auto.h"
#include "executor/builder/program.h"
#include "executor/builder/workspace_table.h"

#include <poll.h>

enum {
	TRY_MS = 10000,
};

/* Waits until it has reported.  A killed process reports nothing, and its end of the socket is
 * closed after its last report. */
static int
await_report(struct process *p, struct err *e)
{
	struct pollfd report = { .fd = p->report, .events = POLLIN };
	int n;

	do {
		n = poll(&report, 1, TRY_MS);
		*e = process_note(p);
	} while (n == 1 && p->answer.kind == 0 && (report.revents & POLLHUP) == 0);
	if (p->answer.kind == 0 && n == 1)
		return err_set(e, ERR_internal, "it was killed while the first box was made");
	if (p->answer.kind == 0)
		return err_set(e, ERR_internal, "the first box was not made within %d ms", TRY_MS);
	return e->code == ERR_none ? 0 : -1;
}

static int
try_program(struct box *box, struct layers *layers, struct err *e)
{
	struct program *program = program_probe(box, e);
	int r;

	if (program == NULL)
		return -1;
	r = await_report(&program->process, e);
	*layers = program->process.answer.layers;
	process_kill(&program->process);
	process_reap(&program->process);
	process_free(&program->process);
	return r;
}

static int
try_box(struct box *box, struct layers *layers, struct err *e)
{
	int r;

	if (box_start(box, e) < 0)
		return -1;
	r = await_report(&box->process, e);
	if (r == 0)
		r = try_program(box, layers, e);
	process_kill(&box->process);
	process_reap(&box->process);
	return r;
}

static int
try_in_workspace(
    const struct host *host, const struct order *order, struct layers *layers, struct err *e)
{
	struct box *box = box_new(order, e);
	struct err ignored;
	int r;

	if (box == NULL)
		return -1;
	r = workspace_table_add(order->workspace, 1 << 20, 16, host_uid(host, order->workspace), e);
	if (r >= 0) {
		r = try_box(box, layers, e);
		if (box->process.has_group)
			cgroup_end(&box->process.group);
		workspace_table_remove(order->workspace, &ignored);
	}
	process_free(&box->process);
	return r < 0 ? -1 : 0;
}

int
trial_run(struct host *host, struct layers *layers, struct err *e)
{
	struct order order = {
		.kind = ORDER_BOX,
		.id = ORDER_MAX_LIVING,
		.workspace = ORDER_MAX_LIVING,
		.memory_bytes = 64 << 20,
		.tmp_bytes = 1 << 20,
		.cpu_milli = 1000,
		.processes = 1,
		.open_files = 64,
	};

	/* A workspace that an earlier builder left may have any number. */
	while (order.workspace > 1 && workspace_table_has(order.workspace))
		order.workspace--;
	if (try_in_workspace(host, &order, layers, e) < 0)
		return -1;
	host->due = layers->in_force;
	return 0;
}
