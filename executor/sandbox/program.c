/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - the executor's side of a program in a box: three descriptors, a clock, and a builder
 * request.
 *
 * Theory of operation.  program_start() makes two pipes and a control channel and sends their far
 * ends to the builder with an order.  The program reports on the control channel that it is idle,
 * and only then gets code.  The run's clock starts then, here and, in case this process hangs, soon
 * after in the builder.
 *
 * A statement has ended when the driver sends DONE; all its output is then in the pipes, and the
 * program is idle again.  Any other run ends with the program: the builder reports that, or the
 * driver of a program that is alone, when all that is left is to exit.  The usage is read here if
 * the box's cgroup counts it, and requested from the builder otherwise.
 *
 * A program that is alone ends its box.  The reply does not wait for that if no other process is in
 * the box; otherwise it waits until all were sent SIGKILL.  A program that is not alone and was
 * killed for an unknown reason also ends its box, because only the end of the box shows whether the
 * reason was memory.
 *
 * What other processes of a run still write after its end belongs to it for a while
 * (program_grace.c).
 *
 * Output between two runs is kept for the next run, up to a bound; then the writer blocks.
 *
 * Trusts the builder for the end and usage of a program; trusts nothing that comes through the
 * three descriptors.
 */
#include "executor/sandbox/program.h"

#include "executor/sandbox/isolation.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

enum {
	PART = 16384,        /* bytes of one read */
	TURN_US = 200,       /* of reading what may be made to take long; then other events */
	LAST_PARTS = 64,     /* reads */
	LATE_MS = 1,         /* an earlier end needs no clock but ours, nor reads before it */
	INTERRUPT_MS = 2000, /* time for a statement to end by itself */
	WRITE_OUT_MS = 20,   /* time for a program to write what it holds, before it is killed */
};

static void kill_it(struct program *);

void
program_stop_clocks(struct program *p)
{
	loop_unset(p->timer);
	loop_unset(p->late);
	p->timer = p->late = 0;
}

/* ---- the end of a run ---- */

static void
end_run(struct program *p, bool gone)
{
	struct box_end end = {
		.wall_ms = (double)(p->ended_us - p->began_us) / 1000,
		.cold = p->started.cold,
	};

	program_stop_clocks(p);
	program_tell(p, gone, &end);
	box_mark(p->box);
	end.out_dropped = output_end(&p->out, &end.out);
	end.err_dropped = output_end(&p->err, &end.err);
	frames_take(&p->frames, &end);
	program_redact(p, &end);
	frames_mute(&p->frames, true);
	must(isolation_of(&p->started.layers, &end.isolation) == 0);
	p->state = IDLE;
	p->over = p->asked = p->survived = false;
	p->go_on = NULL;
	p->events.done(p->self, &end);
	box_end_clear(&end);
}

/* false: the builder cannot be asked.  Its answer goes to program_box_used(). */
static bool
ask_use(struct program *p)
{
	p->asked = !p->box->told && builder_request_clock(p->box->builder_request, 0, 0);
	return p->asked;
}

static void
end_alone(struct program *p)
{
	box_kill(p->box);
}

/* The builder starts to count for the next run. */
static void
end_counted(struct program *p)
{
	struct box *box = p->box;

	end_run(p, false);
	if (box->builder_request != NULL)
		builder_request_clock(box->builder_request, 0, 0);
}

static void
end_statement(struct program *p)
{
	struct box *box = p->box;

	if (p->over)
		return;
	p->over = true;
	p->ended_us = loop_now_us();
	program_stop_clocks(p);
	if (p->asked)
		return;
	if (box_count(box) && !box_may_have_grown(box))
		end_counted(p);
	else if (p->builder_request == NULL || !program_await_processes(p, end_counted))
		end_run(p, false);
}

/* ---- a run ---- */

static void on_time(void *self);

/* The signal is sent twice, as a user would press the key twice: asyncio.run() uses the first
 * one to cancel its tasks when they next wait. */
static void
interrupt(struct program *p, bool again)
{
	p->again = again;
	builder_request_signal(p->builder_request, SIGINT);
	p->timer = loop_after(INTERRUPT_MS / 2, on_time, p);
}

/* Python's driver then writes the line that is not whole yet.  Elsewhere SIGURG does nothing. */
static void
write_out(struct program *p)
{
	if (p->builder_request != NULL)
		builder_request_signal(p->builder_request, SIGURG);
	p->timer = loop_after(WRITE_OUT_MS, on_time, p);
}

static void
on_time(void *self)
{
	struct program *p = self;

	p->timer = 0;
	if (p->state != STARTING && p->statement && p->stopped == BOX_EXITED) {
		p->stopped = BOX_TIMED_OUT;
		interrupt(p, true);
		return;
	}
	if (p->again) {
		interrupt(p, false);
		return;
	}
	if (p->state == RUNS && p->stopped == BOX_EXITED) {
		p->stopped = BOX_TIMED_OUT;
		write_out(p);
		return;
	}
	if (p->stopped == BOX_EXITED)
		p->stopped = BOX_TIMED_OUT;
	kill_it(p);
}

/* Clears all earlier frames: from now on they belong to the run that begins. */
static void
listen_again(struct program *p)
{
	struct box_end nobodys = { 0 };

	frames_take(&p->frames, &nobodys);
	box_end_clear(&nobodys);
	frames_mute(&p->frames, false);
}

static void
set_builders_clock(const struct program *p)
{
	uint64_t grace_ms = p->statement ? INTERRUPT_MS : WRITE_OUT_MS;

	if (p->box->builder_request != NULL)
		builder_request_clock(p->box->builder_request, p->wall_ms + grace_ms, p->cpu_ms);
}

static void
on_late(void *self)
{
	struct program *p = self;

	p->late = 0;
	output_watch(&p->out);
	output_watch(&p->err);
	if (box_is_counted(p->box))
		set_builders_clock(p);
}

static void
hand_over(struct program *p)
{
	struct err e;

	if (program_add_code(p, &e) < 0) {
		log_error("code cannot be sent to an interpreter", LOG_E(&e));
		kill_it(p);
		return;
	}
	listen_again(p);
	output_begin(&p->out, p->output_bytes, p->redact);
	output_begin(&p->err, p->output_bytes, p->redact);
	p->state = RUNS;
	p->began_us = loop_now_us();
	loop_unset(p->timer);
	p->timer = loop_after((int64_t)p->wall_ms, on_time, p);
	control_send(&p->control);
	p->late = loop_after(LATE_MS, on_late, p);
	if (!box_is_counted(p->box))
		set_builders_clock(p);
}

int
program_run(struct program *p, const struct program_code *code, struct err *e)
{
	if (p->state == RUNS || p->code.data != NULL || p->builder_request == NULL || p->killed)
		return err_set(e, ERR_unavailable, "the interpreter does not accept code");
	p->code = blob_copy(code->data, code->size);
	if (p->code.data == NULL)
		return err_sys(e, "code");
	if (code->guard.data != NULL &&
	    (p->guard = blob_copy(code->guard.data, code->guard.size)).data == NULL) {
		blob_clear(&p->code);
		return err_sys(e, "guard");
	}
	p->statement = code->statement;
	p->files = code->files;
	p->packages = code->packages;
	p->manners = code->manners;
	p->wall_ms = code->wall_ms;
	p->cpu_ms = code->cpu_ms;
	p->output_bytes = code->output_bytes;
	p->secrets = code->secrets;
	p->arguments = code->arguments;
	p->input = code->input;
	p->redact = code->redact;
	p->stopped = BOX_EXITED;
	p->again = false;
	/* A program that has closed the channel is about to end; its end is then reported for
	 * this code. */
	if (p->state == IDLE && p->control.fd >= 0)
		hand_over(p);
	return 0;
}

/* ---- frames from the program ---- */

/* The builder's answer and the program's frame arrive on different sockets.  No code is sent to
 * a program whose jail is not known to be closed, nor to one that has ended. */
static bool
can_take_code(const struct program *p)
{
	return p->started.kind == ANSWER_STARTED && p->builder_request != NULL;
}

/* The program may report idle again before its first run.  The usage up to now is not counted in
 * that run. */
static void
take_idleness(struct program *p)
{
	p->frames.idle = false;
	box_count(p->box);
	box_mark(p->box);
	if (p->state != STARTING)
		return;
	p->state = IDLE;
	program_stop_clocks(p);
	box_mark_start(p->box);
	if (p->events.ready != NULL)
		p->events.ready(p->self);
	if (p->code.data != NULL)
		hand_over(p);
}

static void
take_news(struct program *p)
{
	if (p->frames.idle && p->began_us == 0 && can_take_code(p)) {
		take_idleness(p);
	} else if (p->state == RUNS && p->frames.done && p->statement) {
		end_statement(p);
	} else if (p->state == RUNS && p->frames.done && p->alone && p->stopped == BOX_EXITED) {
		p->finished = true;
		p->ended_us = loop_now_us();
		if (box_is_deserted(p->box))
			end_run(p, true);
		else if (!p->box->holds_output) {
			program_await_writers(p, end_alone);
			return;
		}
		box_kill(p->box);
	}
}

/* The end of a statement can no longer be reported, so the program is killed.  If memory was the
 * cause, the box reports it. */
static void
lose_control(struct program *p)
{
	control_close(&p->control);
	if (!p->alone && p->builder_request != NULL && (p->state != RUNS || p->statement))
		builder_request_signal(p->builder_request, SIGKILL);
}

static bool
read_control(struct program *p)
{
	static uint8_t part[PART];
	ssize_t n = read(p->control.fd, part, sizeof part);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0 && frames_feed(&p->frames, part, (size_t)n) == 0) {
		take_news(p);
		return true;
	}
	lose_control(p);
	return false;
}

static void
on_control(void *self, uint32_t events)
{
	struct program *p = self;
	int64_t until_us = loop_now_us() + TURN_US;

	if ((events & EPOLLOUT) != 0)
		control_send(&p->control);
	if ((events & ~(uint32_t)EPOLLOUT) != 0)
		while (p->control.fd >= 0 && read_control(p) && loop_now_us() < until_us)
			;
}

/* ---- the end ---- */

static void
program_free(struct program *p)
{
	output_close(&p->out);
	output_close(&p->err);
	capture_clear(&p->out.kept);
	capture_clear(&p->err.kept);
	control_close(&p->control);
	blob_clear(&p->code);
	blob_clear(&p->guard);
	frames_clear(&p->frames);
	program_stop_clocks(p);
	free(p);
}

/* Everything about the end is known: reports it and frees the program. */
static void
conclude(struct program *p)
{
	struct box *box = p->box;
	struct err e = { .code = ERR_none };

	/* Read the last frames: the program has ended, so there is no more than the channel
	 * holds. */
	for (int i = 0; i < LAST_PARTS && p->control.fd >= 0 && read_control(p); i++)
		;
	if (p->state == RUNS)
		end_run(p, !p->over);
	else
		e = program_why_not(p);
	*p->link = p->next;
	if (p->next != NULL)
		p->next->link = p->link;
	p->events.ended(p->self, &e);
	program_free(p);
	box_settle(box);
}

static void
leave(struct program *p)
{
	if (!p->box->told && (p->alone || program_is_unexplained(p)))
		box_kill(p->box); /* the end of the box shows the reason */
	else if (p->state != RUNS || !(p->asked || ask_use(p)))
		conclude(p);
}

static void
on_ended(void *self, const struct answer *answer)
{
	struct program *p = self;
	bool ran = p->state == RUNS && !p->finished && !p->over;

	p->builder_request = NULL;
	p->past = *answer;
	if (p->finished && p->go_on != NULL)
		return; /* it waits for others */
	program_stop_clocks(p);
	if (ran)
		p->ended_us = loop_now_us();
	if (ran && p->stopped == BOX_EXITED && !p->killed && !box_is_ending(p->box))
		program_await_writers(p, leave);
	else
		leave(p);
}

void
program_box_used(struct program *p)
{
	if (!p->asked)
		return;
	p->asked = false;
	if (p->builder_request == NULL)
		conclude(p);
	else if (p->go_on != NULL)
		program_counted(p);
	else
		end_run(p, false);
}

void
program_box_told(struct program *p)
{
	if (p->builder_request == NULL)
		conclude(p);
	else if (p->state == RUNS && (p->finished || p->over))
		end_run(p, p->finished);
}

void
program_box_killed(struct program *p)
{
	if (p->builder_request == NULL)
		return;
	p->killed = true;
	if (p->stopped == BOX_EXITED)
		p->stopped = BOX_KILLED;
}

struct program *
program_next(const struct program *p)
{
	return p->next;
}

static void
kill_it(struct program *p)
{
	if (p->killed || p->builder_request == NULL)
		return;
	p->killed = true;
	if (p->alone)
		box_kill(p->box);
	else
		builder_request_signal(p->builder_request, SIGKILL);
}

void
program_kill(struct program *p)
{
	if (p->stopped == BOX_EXITED)
		p->stopped = BOX_KILLED;
	kill_it(p);
}

void
program_interrupt(struct program *p)
{
	if (p->stopped != BOX_EXITED || p->over)
		return;
	if (p->state != RUNS || !p->statement || p->builder_request == NULL) {
		program_kill(p);
		return;
	}
	p->stopped = BOX_KILLED;
	loop_unset(p->timer);
	interrupt(p, true);
}

/* ---- the beginning ---- */

static void
on_started(void *self, const struct answer *answer, int *fds, size_t nfds)
{
	struct program *p = self;

	(void)fds, (void)nfds;
	p->started = *answer;
	take_news(p);
}

static int
tell_wanted(struct program *p, struct err *e)
{
	if (control_add(&p->control, GUEST_WANTED, 0, e) == NULL)
		return -1;
	control_send(&p->control);
	return 0;
}

static int
launch(struct program *p, const struct program_spec *spec, struct err *e)
{
	static const struct builder_request_events events = { .started = on_started,
		.ended = on_ended };
	struct order order = {
		.kind = ORDER_PROGRAM,
		.box = builder_request_id(p->box->builder_request),
		.runtime = spec->language,
		.zygote = spec->zygote,
		.alone = spec->alone,
	};
	auto_fd int out = -1;
	auto_fd int err = -1;
	auto_fd int control = -1;

	if (output_open(&p->out, &out, e) < 0 || output_open(&p->err, &err, e) < 0 ||
	    control_open(&p->control, &control, on_control, p, e) < 0)
		return -1;
	const int fds[] = { out, err, control };

	if (spec->wanted && spec->zygote != 0 && tell_wanted(p, e) < 0)
		return -1;
	p->builder_request = builder_request_start(&order, fds, COUNT(fds), &events, p, e);
	return p->builder_request == NULL ? -1 : 0;
}

static struct program *
new_program(struct box *box, const struct program_events *events, void *self)
{
	struct program *p = calloc(1, sizeof *p);

	if (p != NULL)
		*p = (struct program){
			.box = box,
			.events = *events,
			.self = self,
			.out = { channel_stdout, events->output, self, .fd = -1 },
			.err = { channel_stderr, events->output, self, .fd = -1 },
			.control = { .fd = -1 },
		};
	return p;
}

struct program *
program_start(struct box *box, const struct program_spec *spec, const struct program_events *events,
    void *self, struct err *e)
{
	struct program *p = NULL;

	if (box_is_ending(box))
		err_set(e, ERR_unavailable, "the box is ending");
	else if ((p = new_program(box, events, self)) == NULL)
		err_sys(e, "program");
	if (p == NULL)
		return NULL;
	if (launch(p, spec, e) < 0) {
		program_free(p);
		return NULL;
	}
	p->alone = spec->alone;
	p->forked = spec->zygote != 0;
	p->next = box->programs;
	p->link = &box->programs;
	if (p->next != NULL)
		p->next->link = &p->next;
	box->programs = p;
	p->timer = loop_after(PROGRAM_MAKING_MS, on_time, p);
	return p;
}
