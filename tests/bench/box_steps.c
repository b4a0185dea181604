/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_steps.c - measures each step of a box and of the program in it, from the order to the end of
 * the cleanup: p50 and p99 over many boxes, sequentially or several at once.
 *
 * Connects to the builder like the executor; each step is timed by the process that performs it.
 * The Python program does nothing. It is forked from a zygote that has imported the modules, or,
 * if modules is -, started from its file.
 *
 *   box_steps [boxes [at once [modules]]]
 */
#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/guest/protocol.h"
#include "executor/sandbox/builder.h"
#include "executor/sandbox/builder_link.h"
#include "executor/sandbox/workspace.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	MOST = 5000,
	MOST_AT_ONCE = 64,
	READY_MS = 20000, /* of the builder */
};

enum total {
	BOX_CLOSED,
	PROGRAM_CLOSED,
	PROGRAM_IDLE,
	PROGRAM_ENDED,
	BOX_ENDED,
	CODE_TO_END,
	ALL,
	CPU,
	TOTALS,
};

static const char *const totals[TOTALS] = {
	[BOX_CLOSED] = "orders to the box's being closed",
	[PROGRAM_CLOSED] = "orders to the program's jail being closed",
	[PROGRAM_IDLE] = "orders to the program's waiting",
	[PROGRAM_ENDED] = "code handed over to the program's end",
	[BOX_ENDED] = "the program's end to nothing left",
	[CODE_TO_END] = "code handed over to nothing left",
	[ALL] = "orders to nothing left",
	[CPU] = "processor time in the box",
};

/* Each place has one box at a time. */
struct place {
	struct workspace *workspace;
	int control;
	struct builder_request *builder_request; /* the box */
	int64_t ordered_us, closed_us, started_us, idle_us, ended_us;
	struct answer box, program; /* replies to their starts */
};

static struct {
	size_t want, begun, done, at_once, places_ready;
	uint32_t zygote;
	struct place places[MOST_AT_ONCE];
	int64_t first_us, last_us;
	uint32_t box_steps[STEP_COUNT][MOST], program_steps[STEP_COUNT][MOST], totals[TOTALS][MOST];
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

static void
print_step(const char *whose, enum step step, uint32_t *values)
{
	char name[64];

	snprintf(name, sizeof name, "%s: %s", whose, step_name(step));
	print_row(name, values);
}

static void begin(struct place *);

static void
fail(const char *why)
{
	bench.failed = why;
	loop_stop();
}

static void
on_box_started(void *self, const struct answer *answer, int *fds, size_t nfds)
{
	struct place *place = self;

	(void)fds, (void)nfds;
	place->closed_us = loop_now_us();
	place->box = *answer;
}

static void
on_program_started(void *self, const struct answer *answer, int *fds, size_t nfds)
{
	struct place *place = self;

	(void)fds, (void)nfds;
	place->started_us = loop_now_us();
	place->program = *answer;
}

/* When the program reports that it is idle, it gets a task that does nothing. When that is done,
 * it is killed. */
static void
on_control(void *self, uint32_t events)
{
	static const uint8_t code[] = { GUEST_CODE, 0, 0, 0, 0 };
	static const uint8_t done[] = { GUEST_DONE, 1, 0, 0, 0, '0' };
	struct place *place = self;
	uint8_t frames[64];
	ssize_t n = read(place->control, frames, sizeof frames);

	(void)events;
	if (n <= 0) {
		loop_forget(place->control);
	} else if (n == sizeof code && frames[0] == GUEST_IDLE) {
		place->idle_us = loop_now_us();
		if (write(place->control, code, sizeof code) != sizeof code)
			fail("a program takes no code");
	} else if (n >= (ssize_t)sizeof done &&
		   memcmp(frames + n - sizeof done, done, sizeof done) == 0) {
		place->ended_us = loop_now_us();
		builder_request_kill(place->builder_request);
	}
}

static void
note(const struct place *place, const struct answer *end)
{
	int64_t now = loop_now_us(), ordered = place->ordered_us;
	const int64_t us[TOTALS] = {
		[BOX_CLOSED] = place->closed_us - ordered,
		[PROGRAM_CLOSED] = place->started_us - ordered,
		[PROGRAM_IDLE] = place->idle_us - ordered,
		[PROGRAM_ENDED] = place->ended_us - place->idle_us,
		[BOX_ENDED] = now - place->ended_us,
		[CODE_TO_END] = now - place->idle_us,
		[ALL] = now - ordered,
		[CPU] = (int64_t)end->cpu_us,
	};

	for (int s = 0; s < STEP_COUNT; s++) {
		bench.box_steps[s][bench.done] = place->box.step_us[s];
		bench.program_steps[s][bench.done] = place->program.step_us[s];
	}
	for (int t = 0; t < TOTALS; t++)
		bench.totals[t][bench.done] = (uint32_t)us[t];
	bench.last_us = now;
	bench.done++;
}

static void
on_program_ended(void *self, const struct answer *answer)
{
	static char why[sizeof answer->error.text + 64];
	struct place *place = self;

	loop_forget(place->control);
	close(place->control);
	if (answer->error.code == ERR_none && place->ended_us != 0 && answer->status == SIGKILL)
		return;
	snprintf(
	    why, sizeof why, "a program failed: status %d %s", answer->status, answer->error.text);
	fail(why);
}

static void
on_box_ended(void *self, const struct answer *answer)
{
	struct place *place = self;

	if (answer->error.code != ERR_none || bench.failed != NULL) {
		if (bench.failed == NULL)
			fail("a box was not made");
		return;
	}
	note(place, answer);
	if (bench.done == bench.want)
		loop_stop();
	else if (bench.begun < bench.want)
		begin(place);
}

static struct builder_request *
order_box(struct place *place, struct err *e)
{
	static const struct builder_request_events events = { .started = on_box_started,
		.ended = on_box_ended };
	struct order order = {
		.kind = ORDER_BOX,
		.workspace = workspace_id(place->workspace),
		.memory_bytes = 256 << 20,
		.tmp_bytes = 16 << 20,
		.cpu_milli = 1000,
		.processes = 64,
		.open_files = 256,
	};

	return builder_request_start(&order, NULL, 0, &events, place, e);
}

static void
begin(struct place *place)
{
	static const struct builder_request_events events = { .started = on_program_started,
		.ended = on_program_ended };
	struct order order = {
		.kind = ORDER_PROGRAM,
		.runtime = language_python,
		.zygote = bench.zygote,
		.alone = 1,
	};
	struct err e;
	int pair[2], r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);

	must(r == 0);
	const int fds[] = { STDERR_FILENO, STDERR_FILENO, pair[1] };

	place->control = pair[0];
	place->ended_us = 0;
	place->ordered_us = loop_now_us();
	bench.begun++;

	struct builder_request *box = order_box(place, &e);

	place->builder_request = box;
	if (box != NULL)
		order.box = builder_request_id(box);
	if (box == NULL || loop_watch(pair[0], EPOLLIN, on_control, place, &e) < 0 ||
	    builder_request_start(&order, fds, COUNT(fds), &events, place, &e) == NULL)
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
run(char *modules, struct err *e)
{
	static const struct workspace_limits limits = { 64 << 20, 4096 };

	char zygote[] = "zygote", python[] = "/usr/bin/python3", end[] = "--";
	char *group[] = { zygote, python, modules, end };
	const struct texts arguments = { group, bench.zygote != 0 ? COUNT(group) : 0 };

	if (builder_open(&arguments, READY_MS, e) < 0 || loop_open(e) < 0 || builder_start(e) < 0)
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
	char none[] = "";
	char *modules = argc > 3 ? argv[3] : none;
	struct err e;

	bench.zygote = strcmp(modules, "-") != 0;
	bench.want = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
	bench.at_once = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	if (bench.want < 1 || bench.want > MOST || bench.at_once < 1 ||
	    bench.at_once > MOST_AT_ONCE) {
		fprintf(stderr, "box_steps: 1 to %d boxes, 1 to %d at once\n", MOST, MOST_AT_ONCE);
		return 2;
	}
	if (run(modules, &e) < 0) {
		fprintf(stderr, "box_steps: %s\n", e.text);
		return 1;
	}
	printf("%-44s %8s %8s %8s\n", "microseconds", "min", "p50", "p99");
	for (int s = 0; s < STEP_COUNT; s++)
		print_step("box", (enum step)s, bench.box_steps[s]);
	for (int s = 0; s < STEP_COUNT; s++)
		print_step("program", (enum step)s, bench.program_steps[s]);
	for (int t = 0; t < TOTALS; t++)
		print_row(totals[t], bench.totals[t]);
	printf("%zu boxes, %zu at once: %.0f a second\n", bench.done, bench.at_once,
	    (double)bench.done * 1e6 / (double)(bench.last_us - bench.first_us));
	return 0;
}
