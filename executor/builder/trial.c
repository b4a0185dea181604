/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - the first box of a builder.  It runs no code and shows which layers this host has. */
#include "executor/builder/lives.h"

#include "common/base/auto.h"
#include "executor/builder/life.h"
#include "executor/builder/workspace_table.h"

#include <poll.h>

enum {
	TRY_MS = 10000,
};

/* A killed process reports nothing, and its end of the socket is closed after its last report. */
int
trial_await(struct life *life, struct err *e)
{
	struct pollfd report = { .fd = life->report, .events = POLLIN };
	int n;

	do {
		n = poll(&report, 1, TRY_MS);
		*e = life_note(life);
	} while (n == 1 && life->answer.kind == 0 && (report.revents & POLLHUP) == 0);
	if (life->answer.kind == 0 && n == 1)
		return err_set(e, ERR_internal, "it was killed while the first box was made");
	if (life->answer.kind == 0)
		return err_set(e, ERR_internal, "the first box was not made within %d ms", TRY_MS);
	return e->code == ERR_none ? 0 : -1;
}

/* Makes a box, and tries a program in it that runs no code. */
static int
try_life(struct life *box, struct layers *layers, struct err *e)
{
	struct order order = { .kind = ORDER_PROGRAM, .box = box->order.id };
	int r;

	if (place_start(box, NULL, 0, e) < 0)
		return -1;
	r = trial_await(box, e);
	if (r == 0) {
		struct life *program = life_new(&order);

		must(program != NULL);
		program->box = box;
		r = program_try(program, layers, e);
		life_free(program);
	}
	life_kill(box);
	life_note_end(box);
	return r;
}

int
lives_try(const struct host *host, struct layers *layers, struct err *e)
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
	struct err ignored;

	/* A workspace that an earlier builder left may have any number. */
	while (order.workspace > 1 && workspace_table_has(order.workspace))
		order.workspace--;

	struct life *life = life_new(&order);

	if (life == NULL)
		return err_set(e, ERR_internal, "no memory");
	int r =
	    workspace_table_add(order.workspace, 1 << 20, 16, host_uid(host, order.workspace), e);

	if (r >= 0) {
		r = try_life(life, layers, e);
		if (life->has_group)
			cgroup_end(&life->group);
		workspace_table_remove(order.workspace, &ignored);
	}
	life_free(life);
	return r < 0 ? -1 : 0;
}
