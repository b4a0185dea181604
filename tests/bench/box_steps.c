/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_steps.c - how long each step of a box takes, from the order to nothing left: p50 and p99 over
 * many boxes, one after another or several at once.
 *
 * Goes to the builder as the executor does; the steps are timed where they are done.  The program
 * is Python with nothing to do, so that its start can be told from the box's.
 *
 *   box_steps [boxes [at once]]
 */
#include "common/auto.h"
#include "common/loop.h"
#include "executor/builder_link.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
	MOST = 5000,
	MOST_AT_ONCE = 64,
	TOTALS = 5,
};

static const char *const totals[TOTALS] = {
	"order to the program's start",
	"the program (python3, a script of nothing)",
	"of it: processor time",
	"last process gone to nothing left",
	"order to end, all together",
};

/* One box at a time in each. */
struct place {
	struct workspace *workspace;
	int control;
	int64_t ordered_us, started_us;
	struct answer started;
};

static struct {
	size_t want, begun, done, at_once, places_ready;
	struct place places[MOST_AT_ONCE];
	int64_t first_us, last_us;
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

static void begin(struct place *);

static void
fail(const char *why)
{
	bench.failed = why;
	loop_stop();
}

static void
on_started(void *self, const struct answer *answer)
{
	struct place *place = self;

	place->started_us = loop_now_us();
	place->started = *answer;
}

static void
note(const struct place *place, const struct answer *answer)
{
	int64_t now = loop_now_us();
	const uint32_t totals_us[TOTALS] = {
		(uint32_t)(place->started_us - place->ordered_us),
		(uint32_t)(now - place->started_us) - answer->remove_us,
		(uint32_t)answer->cpu_us,
		answer->remove_us,
		(uint32_t)(now - place->ordered_us),
	};

	for (int s = 0; s < STEP_COUNT; s++)
		bench.steps[s][bench.done] = place->started.step_us[s];
	for (int t = 0; t < TOTALS; t++)
		bench.totals[t][bench.done] = totals_us[t];
	bench.last_us = now;
	bench.done++;
}

static void
on_ended(void *self, const struct answer *answer)
{
	static char why[sizeof answer->error.text + 32];
	struct place *place = self;

	close(place->control);
	if (answer->error.code != ERR_none || answer->status != 0) {
		snprintf(why, sizeof why, "a box failed: %s", answer->error.text);
		fail(why);
		return;
	}
	note(place, answer);
	if (bench.done == bench.want)
		loop_stop();
	else if (bench.begun < bench.want)
		begin(place);
}

static void
begin(struct place *place)
{
	static const struct errand_events events = { on_started, on_ended };
	static const uint8_t code[] = { 'C', 0, 0, 0, 0 };
	struct order order = {
		.kind = ORDER_BOX,
		.workspace = workspace_id(place->workspace),
		.memory_bytes = 256 << 20,
		.tmp_bytes = 16 << 20,
		.cpu_milli = 1000,
		.processes = 64,
		.open_files = 256,
		.wall_ms = 60000,
	};
	struct err e;
	int pair[2], r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);

	must(r == 0 && write(pair[0], code, sizeof code) == (ssize_t)sizeof code);
	const int fds[] = { STDERR_FILENO, STDERR_FILENO, pair[1] };

	place->control = pair[0];
	place->ordered_us = loop_now_us();
	bench.begun++;
	if (errand_start(&order, fds, COUNT(fds), &events, place, &e) == NULL)
		fail("the builder cannot be asked");
	close(pair[1]);
}

static void
on_workspace(void *self, struct workspace *workspace, const struct err *e)
{
	struct place *place = self;

	(void)e;
	place->workspace = workspace;
	if (workspace == NULL) {
		fail("there is no workspace");
		return;
	}
	if (++bench.places_ready < bench.at_once)
		return;
	bench.first_us = loop_now_us();
	for (size_t i = 0; i < bench.at_once && bench.begun < bench.want; i++)
		begin(&bench.places[i]);
}

static int
run(struct err *e)
{
	static const struct workspace_limits limits = { 64 << 20, 4096 };

	if (builder_open(e) < 0 || loop_open(e) < 0 || builder_start(e) < 0)
		return -1;
	for (size_t i = 0; i < bench.at_once; i++)
		workspace_make(&limits, on_workspace, &bench.places[i]);
	int r = loop_run(e);

	for (size_t i = 0; i < bench.at_once; i++)
		workspace_drop(bench.places[i].workspace);
	builder_stop();
	if (bench.failed != NULL)
		return err_set(e, ERR_internal, "%s", bench.failed);
	return r;
}

int
main(int argc, char **argv)
{
	struct err e;

	bench.want = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
	bench.at_once = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	if (bench.want < 1 || bench.want > MOST || bench.at_once < 1 ||
	    bench.at_once > MOST_AT_ONCE) {
		fprintf(stderr, "box_steps: 1 to %d boxes, 1 to %d at once\n", MOST, MOST_AT_ONCE);
		return 2;
	}
	if (run(&e) < 0) {
		fprintf(stderr, "box_steps: %s\n", e.text);
		return 1;
	}
	printf("%-44s %8s %8s %8s\n", "microseconds", "min", "p50", "p99");
	for (int s = 0; s < STEP_COUNT; s++)
		print_row(step_name((enum step)s), bench.steps[s]);
	for (int t = 0; t < TOTALS; t++)
		print_row(totals[t], bench.totals[t]);
	printf("%zu boxes, %zu at once: %.0f a second\n", bench.done, bench.at_once,
	    (double)bench.done * 1e6 / (double)(bench.last_us - bench.first_us));
	return 0;
}
