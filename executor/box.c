/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.c - a program in a box, as the executor sees it: three descriptors, a clock, and an errand of
 * the builder's.
 *
 * Theory of operation.  box_start() makes two pipes and a control channel, gives their far ends to
 * the builder with an order, and writes the program into the control channel at once: the driver
 * finds it there when it is ready.  What comes is taken as it comes.  The wall clock runs from the
 * moment the builder says that the program starts; until then a longer one guards the making.  When
 * the builder says that nothing of the box is left, the pipes hold the last of what it wrote, and
 * after that the end is told.
 *
 * A box could be made before there is a program for it: everything but send_code() happens without
 * one.
 *
 * Trusts the builder for how a program ended and what it used; nothing that comes through the three
 * descriptors.
 */
#include "executor/builder_link.h"

#include "common/auto.h"
#include "common/log.h"
#include "common/loop.h"
#include "executor/box/capture.h"
#include "executor/box/frames.h"
#include "executor/guest/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	PART = 65536,      /* bytes of one read */
	PARTS = 4,         /* reads before others have their turn */
	MAKING_MS = 30000, /* a box that is not made by then is given up */
};

struct stream {
	struct box *box;
	enum channel channel;
	int fd; /* -1: it ended */
	struct capture kept;
};

struct box {
	struct errand *errand;
	struct box_events events;
	void *self;
	struct stream out, err;
	int control;      /* -1: it ended, or broke the protocol */
	struct blob code; /* the frame that carries it */
	size_t sent;
	struct frames frames;
	enum box_how killed; /* BOX_EXITED: nobody did */
	uint64_t wall_ms, timer;
	int64_t started_us;
	struct answer started; /* its layers */
};

/* ---- output ---- */

/* false: nothing more is there yet. */
static bool
read_part(struct stream *s)
{
	static uint8_t part[PART];
	ssize_t n = read(s->fd, part, sizeof part);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		loop_forget(s->fd);
		close(take_fd(&s->fd));
		return false;
	}
	if (capture_add(&s->kept, part, (size_t)n) < 0)
		log_warn("output is lost, for there is no memory", LOG_N("bytes", n));
	if (s->box->events.output != NULL)
		s->box->events.output(s->box->self, s->channel, part, (size_t)n);
	return true;
}

static void
on_output(void *self, uint32_t events)
{
	struct stream *s = self;

	(void)events;
	for (int i = 0; i < PARTS && s->fd >= 0 && read_part(s); i++)
		;
}

/* ---- control ---- */

static void
close_control(struct box *box)
{
	if (box->control < 0)
		return;
	loop_forget(box->control);
	close(take_fd(&box->control));
}

static void
send_code(struct box *box)
{
	struct err ignored;

	while (box->sent < box->code.size) {
		ssize_t n = send(box->control, (uint8_t *)box->code.data + box->sent,
		    box->code.size - box->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			break;
		box->sent += (size_t)n;
	}
	blob_clear(&box->code);
	loop_change(box->control, EPOLLIN, &ignored);
}

static bool
read_control(struct box *box)
{
	static uint8_t part[PART];
	ssize_t n = read(box->control, part, sizeof part);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0 && frames_feed(&box->frames, part, (size_t)n) == 0)
		return true;
	close_control(box);
	return false;
}

static void
on_control(void *self, uint32_t events)
{
	struct box *box = self;

	if ((events & EPOLLOUT) != 0)
		send_code(box);
	if ((events & ~(uint32_t)EPOLLOUT) != 0)
		for (int i = 0; i < PARTS && box->control >= 0 && read_control(box); i++)
			;
}

/* ---- the end ---- */

static void
box_free(struct box *box)
{
	struct stream *streams[] = { &box->out, &box->err };

	for (size_t i = 0; i < COUNT(streams); i++) {
		if (streams[i]->fd >= 0) {
			loop_forget(streams[i]->fd);
			close(streams[i]->fd);
		}
		capture_clear(&streams[i]->kept);
	}
	close_control(box);
	blob_clear(&box->code);
	frames_clear(&box->frames);
	loop_unset(box->timer);
	free(box);
}

/* Nobody writes any more: the pipes end, or have nothing. */
static void
drain(struct box *box)
{
	while (box->out.fd >= 0 && read_part(&box->out))
		;
	while (box->err.fd >= 0 && read_part(&box->err))
		;
	while (box->control >= 0 && read_control(box))
		;
}

static void
tell_how(const struct box *box, const struct answer *answer, struct box_end *end)
{
	if (answer->has_status && WIFEXITED(answer->status)) {
		end->how = BOX_EXITED;
		end->exit_code = WEXITSTATUS(answer->status);
		return;
	}
	end->signal = answer->has_status ? WTERMSIG(answer->status) : SIGKILL;
	end->how = BOX_SIGNALLED;
	/* The processor time of a process ends with the wall clock, where that had not come first.
	 */
	if (answer->has_status && end->signal == SIGXCPU)
		end->how = BOX_TIMED_OUT;
	else if (answer->out_of_memory && end->signal == SIGKILL)
		end->how = BOX_OUT_OF_MEMORY;
	else if (!answer->has_status && box->killed != BOX_EXITED)
		end->how = box->killed;
}

static void
tell_end(struct box *box, const struct answer *answer)
{
	struct box_end end = {
		.wall_ms = (double)(loop_now_us() - box->started_us) / 1000,
		.cpu_ms = (double)answer->cpu_us / 1000,
		.max_memory_bytes = answer->max_memory_bytes,
		.too_many_processes = answer->too_many_processes,
	};
	struct err e = { 0 };

	tell_how(box, answer, &end);
	drain(box);
	end.out_truncated = capture_take(&box->out.kept, &end.out);
	end.err_truncated = capture_take(&box->err.kept, &end.err);
	frames_take(&box->frames, &end);
	if (isolation_of(&box->started.layers, &end.isolation) < 0)
		err_set(&e, ERR_internal, "no memory");
	box->events.ended(box->self, e.code == ERR_none ? &end : NULL, &e);
	message_clear(MSG_isolation, &end.isolation);
	blob_clear(&end.out);
	blob_clear(&end.err);
	blob_clear(&end.result);
	texts_clear(&end.variables);
	free(end.error_type);
	free(end.error_text);
}

/* The builder knows only that a box ended early; why is known here. */
static struct err
why_not(const struct box *box, const struct answer *answer)
{
	struct err e = answer->error;

	if (box->killed == BOX_KILLED)
		err_set(&e, ERR_cancelled, "the program was not started");
	else if (box->killed == BOX_TIMED_OUT)
		err_set(&e, ERR_unavailable, "no box was made within %d ms", MAKING_MS);
	return e;
}

static void
on_ended(void *self, const struct answer *answer)
{
	struct box *box = self;
	struct err e = why_not(box, answer);

	box->errand = NULL;
	if (answer->error.code != ERR_none)
		box->events.ended(box->self, NULL, &e);
	else
		tell_end(box, answer);
	box_free(box);
}

static void
kill_as(struct box *box, enum box_how why)
{
	if (box->killed != BOX_EXITED)
		return;
	box->killed = why;
	errand_kill(box->errand);
}

static void
on_time(void *self)
{
	struct box *box = self;

	box->timer = 0;
	kill_as(box, BOX_TIMED_OUT);
}

void
box_kill(struct box *box)
{
	kill_as(box, BOX_KILLED);
}

/* ---- the beginning ---- */

static void
on_started(void *self, const struct answer *answer)
{
	struct box *box = self;

	box->started = *answer;
	box->started_us = loop_now_us();
	loop_unset(box->timer);
	box->timer = loop_after((int64_t)box->wall_ms, on_time, box);
}

static const struct errand_events box_errand = { on_started, on_ended };

/* The near end does not block, the far one does: it is a plain pipe to the program. */
static int
make_pipe(struct stream *s, int *far, struct err *e)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	s->fd = pair[0];
	*far = pair[1];
	/* The program is another user, and may open it again as /dev/stdout. */
	if (fcntl(s->fd, F_SETFL, O_NONBLOCK) < 0 || fchmod(*far, 0622) < 0)
		return err_sys(e, "set up a pipe");
	return loop_watch(s->fd, EPOLLIN, on_output, s, e);
}

static int
make_control(struct box *box, int *far, struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "socketpair");
	box->control = pair[0];
	*far = pair[1];
	if (fcntl(box->control, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "fcntl");
	return loop_watch(box->control, EPOLLIN | EPOLLOUT, on_control, box, e);
}

static int
make_code(struct box *box, const struct box_spec *spec, struct err *e)
{
	uint8_t *frame = malloc(5 + spec->code_size);

	if (frame == NULL || spec->code_size > UINT32_MAX) {
		free(frame);
		return err_set(e, ERR_internal, "no memory for the program");
	}
	frame[0] = GUEST_CODE;
	for (int i = 0; i < 4; i++)
		frame[1 + i] = (uint8_t)(spec->code_size >> 8 * i);
	memcpy(frame + 5, spec->code, spec->code_size);
	box->code = (struct blob){ frame, 5 + spec->code_size };
	return 0;
}

static int
launch(struct box *box, const struct box_spec *spec, struct err *e)
{
	const struct box_limits *l = &spec->limits;
	struct order order = {
		.kind = ORDER_BOX,
		.workspace = workspace_id(spec->workspace),
		.language = (uint32_t)spec->language,
		.memory_bytes = l->memory_bytes,
		.tmp_bytes = l->tmp_bytes,
		.cpu_milli = l->cpu_milli,
		.processes = l->processes,
		.open_files = l->open_files,
		.wall_ms = l->wall_ms,
	};
	auto_fd int out = -1;
	auto_fd int err = -1;
	auto_fd int control = -1;

	if (make_code(box, spec, e) < 0 || make_pipe(&box->out, &out, e) < 0 ||
	    make_pipe(&box->err, &err, e) < 0 || make_control(box, &control, e) < 0)
		return -1;
	const int fds[] = { out, err, control };

	box->errand = errand_start(&order, fds, COUNT(fds), &box_errand, box, e);
	return box->errand == NULL ? -1 : 0;
}

struct box *
box_start(const struct box_spec *spec, const struct box_events *events, void *self, struct err *e)
{
	struct box *box = calloc(1, sizeof *box);

	if (box == NULL) {
		err_set(e, ERR_internal, "no memory");
		return NULL;
	}
	*box = (struct box){
		.events = *events,
		.self = self,
		.out = { box, channel_stdout, -1, { .limit = spec->limits.output_bytes } },
		.err = { box, channel_stderr, -1, { .limit = spec->limits.output_bytes } },
		.control = -1,
		.wall_ms = spec->limits.wall_ms,
		.started_us = loop_now_us(),
	};
	if (launch(box, spec, e) < 0) {
		box_free(box);
		return NULL;
	}
	box->timer = loop_after(MAKING_MS, on_time, box);
	return box;
}
