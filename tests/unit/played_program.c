/* SPDX-License-Identifier: Apache-2.0 */
/* played_program.c - a program in a box, as its driver and the builder would speak. */
#include "played_program.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cmocka.h>

struct played_program seen;

static struct box *box;
int last_count = -1, last_processes = -1;
struct program *program;

/* ---- the builder ---- */

static const struct answer used = { .kind = ANSWER_USED, .cpu_us = 2500, .max_memory_bytes = 4096 };

void
say_used(void)
{
	builder.box->events.used(builder.box->self, &used);
}

void
say_counted(uint32_t processes)
{
	struct answer answer = used;

	answer.kind = ANSWER_COUNTED;
	answer.processes = processes;
	answer.threads = 3 + processes;
	builder.box->events.used(builder.box->self, &answer);
}

void
say_closed(void)
{
	const struct answer answer = { .kind = ANSWER_STARTED };

	builder.program->events.started(builder.program->self, &answer, NULL, 0);
}

void
close_output(void)
{
	if (builder.out >= 0)
		close(take_fd(&builder.out));
}

void
say_program_ended(int status)
{
	const struct answer answer = { .kind = ANSWER_ENDED, .status = status };
	auto_free struct builder_request *builder_request = take_ptr(builder.program);

	builder_request->events.ended(builder_request->self, &answer);
}

void
say_box(enum answer_kind kind, uint64_t cpu_us)
{
	const struct answer answer = { .kind = kind, .cpu_us = cpu_us, .out_of_memory = true };

	if (kind == ANSWER_KILLED) {
		builder.box->events.killed(builder.box->self, &answer);
		return;
	}

	auto_free struct builder_request *builder_request = take_ptr(builder.box);

	builder_request->events.ended(builder_request->self, &answer);
}

/* ---- the program ---- */

static void
stop(void *self)
{
	(void)self;
	loop_stop();
}

void
wait_ms(int ms)
{
	struct err e;

	loop_after(ms, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

/* What was said is heard. */
void
turn(void)
{
	struct err e;

	loop_after(5, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

void
say(enum guest_frame kind, const char *text)
{
	uint8_t frame[64] = { kind, (uint8_t)strlen(text) };

	memcpy(frame + 5, text, strlen(text));
	assert_int_equal(send(builder.control, frame, 5 + strlen(text), MSG_NOSIGNAL),
	    (ssize_t)(5 + strlen(text)));
	turn();
}

/* ---- who waits ---- */

static void
on_done(void *self, struct box_end *end)
{
	(void)self;
	seen.runs++;
	seen.end = *end;
}

static void
on_ended(void *self, const struct err *e)
{
	(void)self, (void)e;
	program = NULL;
	seen.programs++;
}

static void
on_box_ended(void *self, const struct err *e)
{
	(void)self, (void)e;
	box = NULL;
	seen.boxes++;
}

static void
run(bool statement, uint64_t wall_ms)
{
	const struct program_code code = { .data = "x",
		.size = 1,
		.statement = statement,
		.wall_ms = wall_ms,
		.output_bytes = 1024 };
	struct err e;

	assert_int_equal(program_run(program, &code, &e), 0);
}

void
run_statement(uint64_t wall_ms)
{
	run(true, wall_ms);
}

void
make_of(const struct program_spec *spec)
{
	static const struct program_events events = { .done = on_done, .ended = on_ended };
	static const struct box_limits limits = { .memory_bytes = 1 << 20, .processes = 4 };
	struct err e;

	memset(&builder, 0, sizeof builder);
	builder.out = -1;
	memset(&seen, 0, sizeof seen);
	assert_int_equal(loop_open(&e), 0);
	box = box_make(&limits, NULL, on_box_ended, NULL, &e);
	assert_non_null(box);
	program = program_start(box, spec, &events, NULL, &e);
	assert_non_null(program);
}

void
make(bool alone)
{
	const struct program_spec spec = { .language = 0, .alone = alone };

	make_of(&spec);
	say(GUEST_IDLE, "");
}

int
begin(void **state)
{
	(void)state;
	make(false);
	run_statement(1000);
	assert_int_equal(builder.begun, 0); /* nobody has said that its jail is closed */
	say_closed();
	assert_int_equal(builder.begun, 1);
	return 0;
}

/* A program in a box whose group counts this. */
void
begin_counted(bool alone, const char *processes, const char *cpu_us)
{
	const struct answer answer = {
		.kind = ANSWER_STARTED,
		.uses = 1u << CGROUP_PROCESSES | 1u << CGROUP_CPU,
	};
	int fds[] = { memfd_create("processes", MFD_CLOEXEC), memfd_create("cpu", MFD_CLOEXEC) };

	make(alone);
	assert_int_equal(write(fds[0], processes, strlen(processes)), strlen(processes));
	assert_int_equal(write(fds[1], "usage_usec 500\n", 15), 15);
	last_count = dup(fds[1]);
	last_processes = dup(fds[0]);
	builder.box->events.started(builder.box->self, &answer, fds, COUNT(fds));
	assert_int_equal(fds[0], -1);
	assert_int_equal(fds[1], -1);
	run(!alone, 1000);
	say_closed(); /* what it took to get there is not the run's */
	assert_int_equal(pwrite(last_count, cpu_us, strlen(cpu_us), 0), strlen(cpu_us));
}

int
end(void **state)
{
	(void)state;
	if (builder.program != NULL)
		say_program_ended(SIGKILL);
	if (builder.box != NULL)
		say_box(ANSWER_ENDED, 0);
	assert_int_equal(seen.programs, 1);
	assert_int_equal(seen.boxes, 1);
	close(builder.control);
	close_output();
	if (last_count >= 0)
		close(take_fd(&last_count));
	if (last_processes >= 0)
		close(take_fd(&last_processes));
	loop_close();
	return 0;
}
