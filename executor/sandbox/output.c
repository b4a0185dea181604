/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - a pipe that a program writes to.
 *
 * Theory of operation.  The pipe itself buffers output.  It is first read when a run has lasted for
 * a moment, then whenever data arrives, and at the run's end.  A short run needs no turn of the
 * loop, which would take the processor from the program that writes.  Between runs nothing is read:
 * the writer blocks when the pipe is full.
 *
 * The content, amount and end of the output are hostile: each turn of the loop, and the read at the
 * end of a run, takes a bounded amount.
 */
#include "executor/sandbox/output.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

enum {
	PART = 65536,    /* bytes of one read */
	PARTS = 4,       /* reads before other events are handled */
	PIPE_PARTS = 17, /* reads that empty the largest pipe a guest can make */
};

static void
unwatch(struct output *o)
{
	if (o->fd >= 0 && o->watched)
		loop_forget(o->fd);
	o->watched = false;
}

static void
pass_on(struct output *o, const void *data, size_t size)
{
	if (size == 0)
		return;
	if (capture_add(&o->kept, data, size) < 0)
		log_warn("output was lost: out of memory", LOG_N("bytes", size));
	if (o->seen != NULL)
		o->seen(o->self, o->channel, data, size);
}

/* Redacts a part; data NULL: the end, which releases what was held back.  Without memory the output
 * is lost, not shown. */
static void
redact_part(struct output *o, const void *data, size_t size)
{
	struct blob clean = { 0 };
	int status = data != NULL ? redact_feed(&o->clean, data, size, &clean)
	                          : redact_end(&o->clean, &clean);

	if (status < 0)
		log_warn("output was lost: out of memory", LOG_N("bytes", size));
	else
		pass_on(o, clean.data, clean.size);
	blob_clear(&clean);
}

/* false: no more data is available now. */
static bool
read_part(struct output *o)
{
	static uint8_t part[PART];
	ssize_t n = read(o->fd, part, sizeof part);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		unwatch(o);
		o->ended = true;
		return false;
	}
	if (o->clean.of == NULL)
		pass_on(o, part, (size_t)n);
	else
		redact_part(o, part, (size_t)n);
	return true;
}

static void
on_output(void *self, uint32_t events)
{
	struct output *o = self;

	(void)events;
	for (int i = 0; i < PARTS && o->fd >= 0 && o->watched && read_part(o); i++)
		;
}

int
output_open(struct output *o, int *far, struct err *e)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	o->fd = pair[0];
	*far = pair[1];
	/* Our end is non-blocking; the program's end blocks.  To the program, which is another
	 * user, it is an ordinary pipe, and it may open the pipe again as /dev/stdout. */
	if (fcntl(o->fd, F_SETFL, O_NONBLOCK) < 0 || fchmod(*far, 0622) < 0)
		return err_sys(e, "set up a pipe");
	return 0;
}

void
output_begin(struct output *o, uint64_t limit, const struct redact *redact)
{
	o->kept.limit = limit;
	o->clean.of = redact;
}

void
output_watch(struct output *o)
{
	struct err e;

	if (o->fd < 0 || o->ended || o->watched)
		return;
	o->watched = loop_watch(o->fd, EPOLLIN, on_output, o, &e) == 0;
	if (!o->watched)
		log_error("output cannot be watched", LOG_E(&e));
}

/* No pipe holds more than is read here. */
bool
output_is_open(struct output *o)
{
	for (int i = 0; i < PIPE_PARTS && o->fd >= 0 && !o->ended && read_part(o); i++)
		;
	return o->fd >= 0 && !o->ended;
}

/* All bytes written before now are in the pipe. */
uint64_t
output_end(struct output *o, struct blob *out)
{
	output_is_open(o);
	unwatch(o);
	if (o->clean.of != NULL)
		redact_part(o, NULL, 0);
	return capture_take(&o->kept, out);
}

void
output_close(struct output *o)
{
	if (o->fd < 0)
		return;
	unwatch(o);
	close(take_fd(&o->fd));
}
