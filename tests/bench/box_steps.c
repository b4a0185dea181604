/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_steps.c - how long each step of a box takes, from the order to nothing left: p50 and p99 over
 * many boxes made one after another.
 *
 * Goes to the builder as the executor does; the steps are timed where they are done.  The program
 * is Python with nothing to do, so that its start can be told from the box's.
 *
 *   box_steps [boxes]
 */
#include "common/auto.h"
#include "common/loop.h"
#include "executor/builder_link.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
	MOST = 5000,
	TOTALS = 5,
};

static const char *const totals[TOTALS] = {
	"order to the program's start",
	"the program (python3, a script of nothing)",
	"of it: processor time",
	"last process gone to nothing left",
	"order to end, all together",
};

static struct {
	size_t want, done;
	struct workspace *workspace;
	int control;
	int64_t ordered_us, started_us;
	uint32_t steps[STEP_COUNT][MOST], totals[TOTALS][MOST];
	const char *failed;
} bench;

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
print_row(const char *name, uint32_t *values)
{
	qsort(values, bench.done, sizeof *values, compare);
	printf("%-44s %8u %8u %8u\n", name, values[0], values[bench.done / 2],
	    values[bench.done * 99 / 100]);
}

static void begin(void);

static void
on_started(void *self, const struct answer *answer)
{
	(void)self;
	bench.started_us = loop_now_us();
	for (int s = 0; s < STEP_COUNT; s++)
		bench.steps[s][bench.done] = answer->step_us[s];
	bench.totals[0][bench.done] = (uint32_t)(bench.started_us - bench.ordered_us);
}

static void
on_ended(void *self, const struct answer *answer)
{
	static char why[sizeof answer->error.text];
	int64_t now = loop_now_us();

	(void)self;
	close(bench.control);
	if (answer->error.code != ERR_none || answer->status != 0) {
		snprintf(why, sizeof why, "%s", answer->error.text);
		bench.failed = why;
		loop_stop();
		return;
	}
	bench.totals[1][bench.done] = (uint32_t)(now - bench.started_us) - answer->remove_us;
	bench.totals[2][bench.done] = (uint32_t)answer->cpu_us;
	bench.totals[3][bench.done] = answer->remove_us;
	bench.totals[4][bench.done] = (uint32_t)(now - bench.ordered_us);
	if (++bench.done == bench.want)
		loop_stop();
	else
		begin();
}

static void
begin(void)
{
	static const struct errand_events events = { on_started, on_ended };
	static const uint8_t code[] = { 'C', 0, 0, 0, 0 };
	struct order order = {
		.kind = ORDER_BOX,
		.workspace = workspace_id(bench.workspace),
		.memory_bytes = 256 << 20,
		.tmp_bytes = 16 << 20,
		.cpu_milli = 1000,
		.processes = 64,
		.open_files = 256,
		.wall_ms = 10000,
	};
	struct err e;
	int pair[2], r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);

	must(r == 0 && write(pair[0], code, sizeof code) == (ssize_t)sizeof code);
	const int fds[] = { STDERR_FILENO, STDERR_FILENO, pair[1] };

	bench.control = pair[0];
	bench.ordered_us = loop_now_us();
	if (errand_start(&order, fds, COUNT(fds), &events, NULL, &e) == NULL) {
		bench.failed = "the builder cannot be asked";
		loop_stop();
	}
	close(pair[1]);
}

static void
on_workspace(void *self, struct workspace *workspace, const struct err *e)
{
	(void)self, (void)e;
	bench.workspace = workspace;
	if (workspace != NULL) {
		begin();
		return;
	}
	bench.failed = "there is no workspace";
	loop_stop();
}

int
main(int argc, char **argv)
{
	static const struct workspace_limits limits = { 64 << 20, 4096 };
	struct err e;

	bench.want = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
	if (bench.want < 1 || bench.want > MOST) {
		fprintf(stderr, "box_steps: 1 to %d boxes\n", MOST);
		return 2;
	}
	if (builder_open(&e) < 0 || loop_open(&e) < 0 || builder_start(&e) < 0) {
		fprintf(stderr, "box_steps: %s\n", e.text);
		return 1;
	}
	workspace_make(&limits, on_workspace, NULL);
	if (loop_run(&e) < 0)
		bench.failed = e.text;
	workspace_drop(bench.workspace);
	builder_stop();
	if (bench.failed != NULL || bench.done == 0) {
		fprintf(stderr, "box_steps: %s\n", bench.failed);
		return 1;
	}
	printf("%-44s %8s %8s %8s\n", "microseconds", "min", "p50", "p99");
	for (int s = 0; s < STEP_COUNT; s++)
		print_row(step_name((enum step)s), bench.steps[s]);
	for (int t = 0; t < TOTALS; t++)
		print_row(totals[t], bench.totals[t]);
	return 0;
}
